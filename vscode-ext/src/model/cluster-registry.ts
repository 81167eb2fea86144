/** The connections to all clusters that are shown, and the connection that each debug session belongs to. */

import type { WorkerList } from '../protocol/messages';
import { ClusterConnection, type ConnectionEnvironment, type Session } from './cluster-connection';
import { hubOf, type Configuration } from './configuration';
import { clusterOf, isSame, type Cluster, type SavedClusters } from './saved-clusters';
import type { TreeNode } from './worker-tree';

/** A debug session with its name and its configuration. */
export interface ConfiguredSession extends Session {
  readonly name: string;
  readonly configuration: Partial<Configuration>;
}

/** The clusters that the Ray view shows: the saved ones, and one for each session whose cluster is not saved. */
export class ClusterRegistry {
  private readonly saved = new Map<string, ClusterConnection>();
  /** The connections of sessions whose cluster is not saved, by the id of the session. */
  private readonly temporary = new Map<string, ClusterConnection>();
  private readonly sessions = new Map<string, { session: ConfiguredSession; connection: ClusterConnection }>();
  /** Whether the saved clusters are watched. */
  private watching = false;

  constructor(
    private readonly clusters: SavedClusters,
    private readonly environment: ConnectionEnvironment,
  ) {
    clusters.all.forEach((cluster) => this.saved.set(cluster.id, new ClusterConnection(cluster, environment)));
  }

  get all(): readonly ClusterConnection[] {
    return [...this.saved.values(), ...this.temporary.values()];
  }

  /** Return the connection to the cluster with this id. */
  get(id: string): ClusterConnection | undefined {
    return this.all.find(({ cluster }) => cluster.id === id);
  }

  isSaved(connection: ClusterConnection): boolean {
    return this.saved.get(connection.cluster.id) === connection;
  }

  /** Watch all saved clusters from now on. Try again to reach the clusters that could not be reached. */
  watch(): void {
    this.watching = true;
    this.saved.forEach((connection) => connection.watch());
  }

  /** End the watchers until the next call of `watch`. */
  rest(): void {
    if (this.watching) {
      this.watching = false;
      this.saved.forEach((connection) => connection.rest());
    }
  }

  /** Save the cluster at this address, and watch it. */
  async add(address: string): Promise<void> {
    const cluster = await this.clusters.add(address);
    const connection = this.saved.get(cluster.id) ?? new ClusterConnection(cluster, this.environment);
    this.saved.set(cluster.id, connection);
    this.reassignSessions();
    connection.watch();
    this.listChanged(connection);
  }

  async remove(connection: ClusterConnection): Promise<void> {
    await this.clusters.remove(connection.cluster.id);
    this.saved.delete(connection.cluster.id);
    this.reassignSessions();
    connection.close();
    this.listChanged(connection);
  }

  /** Change the name or the address of a saved cluster. */
  async change(connection: ClusterConnection, difference: Partial<Omit<Cluster, 'id'>>): Promise<void> {
    await this.clusters.change(connection.cluster.id, difference);
    connection.cluster = { ...connection.cluster, ...difference };
    this.environment.changed(connection, []);
  }

  /** Return the connection whose tree contains this node. */
  connectionOf(node: TreeNode): ClusterConnection | undefined {
    let root = node;
    while (root.parent !== undefined) {
      root = root.parent;
    }
    return this.all.find(({ tree }) => tree.root === root);
  }

  connectionOfSession(id: string): ClusterConnection | undefined {
    return this.sessions.get(id)?.connection;
  }

  sessionOf(id: string): ConfiguredSession | undefined {
    return this.sessions.get(id)?.session;
  }

  /** Assign a session to its saved cluster, else to a connection of its own. `url` is the URL of its cluster. */
  addSession(session: ConfiguredSession, url = ''): void {
    const connection = this.savedOf(session.configuration, url) ?? this.addTemporary(session);
    this.sessions.set(session.id, { session, connection });
    connection.addSession(session);
    this.listChanged(connection);
  }

  removeSession(id: string): void {
    const connection = this.connectionOfSession(id);
    if (connection !== undefined) {
      this.sessions.delete(id);
      this.temporary.delete(id);
      connection.removeSession(id);
      this.listChanged(connection);
    }
  }

  /** Pass the update of a session to its connection. */
  workersChanged(sessionId: string, update: WorkerList): void {
    const connection = this.connectionOfSession(sessionId);
    connection?.workersChanged(sessionId, update);
    if (connection !== undefined && this.temporary.has(sessionId)) {
      void this.identify(connection).catch(() => undefined);
    }
  }

  close(): void {
    this.all.forEach((connection) => connection.close());
  }

  private addTemporary({ id, name }: ConfiguredSession): ClusterConnection {
    const connection = new ClusterConnection({ id, name, address: '' }, this.environment);
    this.temporary.set(id, connection);
    return connection;
  }

  /** Move each session to the cluster that it now belongs to, after the saved clusters have changed. */
  private reassignSessions(): void {
    for (const { session, connection } of [...this.sessions.values()]) {
      const saved = this.savedOf(session.configuration, connection.url);
      if ((saved?.cluster.id ?? session.id) !== connection.cluster.id) {
        this.removeSession(session.id);
        this.addSession(session, connection.url);
      }
    }
  }

  /** Move the sessions of a connection that is not saved to the saved cluster with the URL that raydap reports. */
  private async identify(connection: ClusterConnection): Promise<void> {
    if (connection.url === '') {
      await connection.identify();
    }
    this.reassignSessions();
  }

  /**
   * Return the saved cluster of a configuration, else the one with this URL. The URL that a hub reports is not used: a
   * loopback address in it is that of another machine.
   */
  private savedOf(configuration: Partial<Configuration>, url = ''): ClusterConnection | undefined {
    const cluster = clusterOf(this.clusters.all, configuration);
    if (cluster !== undefined || url === '' || hubOf(configuration) !== undefined) {
      return cluster && this.saved.get(cluster.id);
    }
    return [...this.saved.values()].find((saved) => saved.url === url || isSame(saved.cluster.address, url));
  }

  /** Report a change in the list of clusters or in their sessions. Watch the saved clusters that are idle by now. */
  private listChanged(connection: ClusterConnection): void {
    if (this.watching) {
      const idle = [...this.saved.values()].filter(({ status }) => status.kind === 'idle');
      idle.forEach((each) => each.watch());
    }
    this.environment.changed(connection, []);
  }
}
