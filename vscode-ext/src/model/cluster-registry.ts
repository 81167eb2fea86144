/** The connections to all clusters that are shown, and the connection that each debug session belongs to. */

import type { WorkerList } from '../protocol/messages';
import { ClusterConnection, type ConnectionEnvironment, type Session } from './cluster-connection';
import { hubOf, type Configuration } from './configuration';
import { isHubUrl } from './hub-url';
import { clusterOf, defaultName, isSame, type Cluster, type SavedClusters } from './saved-clusters';
import type { TreeNode } from './worker-tree';

/** A debug session with its name and its configuration. */
export interface ConfiguredSession extends Session {
  readonly name: string;
  readonly configuration: Partial<Configuration>;
}

/**
 * The clusters that the Ray view shows: the saved ones, those that run on this machine, and one for each session of
 * another cluster.
 */
export class ClusterRegistry {
  private readonly saved = new Map<string, ClusterConnection>();
  /** The clusters of this machine that are not saved. They are watched only after the user has opened their row. */
  private readonly local = new Map<string, ClusterConnection>();
  /** The addresses of the clusters that run on this machine, and those among them that the user has hidden. */
  private running: readonly string[] = [];
  private hidden: readonly string[] = [];
  /** The connections of sessions whose cluster is not listed, by the id of the session. */
  private readonly temporary = new Map<string, ClusterConnection>();
  private readonly sessions = new Map<string, { session: ConfiguredSession; connection: ClusterConnection }>();
  /** Whether the saved clusters are watched. */
  private watching = false;

  private readonly environment: ConnectionEnvironment;

  constructor(
    private readonly clusters: SavedClusters,
    environment: ConnectionEnvironment,
  ) {
    const changed: ConnectionEnvironment['changed'] = (connection, changes) => {
      environment.changed(connection, changes);
      this.updateLocal();
    };
    this.environment = { ...environment, changed };
    clusters.all.forEach((cluster) => this.saved.set(cluster.id, new ClusterConnection(cluster, this.environment)));
  }

  get all(): readonly ClusterConnection[] {
    return [...this.listed, ...this.temporary.values()];
  }

  private get listed(): readonly ClusterConnection[] {
    return [...this.saved.values(), ...this.local.values()];
  }

  /** Return the connection to the cluster with this id. */
  get(id: string): ClusterConnection | undefined {
    return this.all.find(({ cluster }) => cluster.id === id);
  }

  kindOf(connection: ClusterConnection): 'saved' | 'local' | 'temporary' {
    const { id } = connection.cluster;
    return this.saved.get(id) === connection ? 'saved' : this.local.has(id) ? 'local' : 'temporary';
  }

  /** Show the clusters at these addresses, which run on this machine, unless they are saved or hidden. */
  setRunning(addresses: readonly string[]): void {
    this.running = addresses;
    this.hidden = this.hidden.filter((address) => addresses.includes(address));
    this.updateLocal();
  }

  /** Hide a cluster of this machine until it ends. */
  hide({ cluster }: ClusterConnection): void {
    this.hidden = [...this.hidden, cluster.address];
    this.updateLocal();
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
      this.listed.forEach((connection) => connection.rest());
    }
  }

  /** Save the cluster at this address, and watch it. */
  async add(address: string): Promise<void> {
    const cluster = await this.clusters.add(address);
    const connection = this.saved.get(cluster.id) ?? new ClusterConnection(cluster, this.environment);
    this.saved.set(cluster.id, connection);
    const local = [...this.local.values()].find((each) => isSame(each.cluster.address, address));
    this.local.delete(local?.cluster.id ?? '');
    this.reassignSessions();
    local?.close();
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

  /** Assign a session to its listed cluster, else to a connection of its own. `url` is the URL of its cluster. */
  addSession(session: ConfiguredSession, url = ''): void {
    const connection = this.listedOf(session.configuration, url) ?? this.addTemporary(session);
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

  /** Move each session to the cluster that it now belongs to, after the list of clusters has changed. */
  private reassignSessions(): void {
    for (const { session, connection } of [...this.sessions.values()]) {
      const listed = this.listedOf(session.configuration, connection.url);
      if ((listed?.cluster.id ?? session.id) !== connection.cluster.id) {
        this.removeSession(session.id);
        this.addSession(session, connection.url);
      }
    }
  }

  /** Move the sessions of a temporary connection to the listed cluster with the URL that raydap reports. */
  private async identify(connection: ClusterConnection): Promise<void> {
    if (connection.url === '') {
      await connection.identify();
    }
    this.reassignSessions();
  }

  /**
   * Return the listed cluster of a configuration, else the one with this URL. The URL that a hub reports is not used: a
   * loopback address in it is that of another machine.
   */
  private listedOf(configuration: Partial<Configuration>, url = ''): ClusterConnection | undefined {
    const { listed } = this;
    const clusters = listed.map(({ cluster }) => cluster);
    const cluster = clusterOf(clusters, configuration);
    if (cluster !== undefined || url === '' || hubOf(configuration) !== undefined) {
      return cluster && listed[clusters.indexOf(cluster)];
    }
    return listed.find((each) => each.url === url || isSame(each.cluster.address, url));
  }

  /** Add and remove rows of clusters that run on this machine. A row with a session stays until the session ends. */
  private updateLocal(): void {
    const wanted = this.running.filter((address) => !this.hidden.includes(address) && !this.mayBeSaved(address));
    const ended = [...this.local.values()].filter(
      ({ cluster, session }) => session === undefined && !wanted.includes(cluster.address),
    );
    const added = wanted
      .map((address) => ({ id: `local:${address}`, name: defaultName(address), address }))
      .filter(({ id }) => !this.local.has(id))
      .map((cluster) => new ClusterConnection(cluster, this.environment));
    ended.forEach(({ cluster }) => this.local.delete(cluster.id));
    added.forEach((connection) => this.local.set(connection.cluster.id, connection));
    ended.forEach((connection) => connection.close());
    if (added.length > 0) {
      this.reassignSessions();
    }
    const [changed] = [...added, ...ended];
    if (changed !== undefined) {
      this.environment.changed(changed, []);
    }
  }

  /** Return whether a saved cluster has this address, or may turn out to have it when it is connected. */
  private mayBeSaved(address: string): boolean {
    return [...this.saved.values()].some(
      ({ cluster, url, status }) =>
        isSame(cluster.address, address) ||
        (!isHubUrl(cluster.address) && (url === address || (url === '' && status.kind === 'connecting'))),
    );
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
