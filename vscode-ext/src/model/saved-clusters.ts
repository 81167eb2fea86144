/** The clusters that the user has added. */

import { ATTACH, hubOf, type Configuration } from './configuration';
import { hubUrlError, isHubUrl } from './hub-url';
import type { Memento } from './token-store';
import type { WatcherArguments } from './worker-source';

/** A cluster in the Ray view. */
export interface Cluster {
  /** Unique in the view. A cluster that is not saved has the id of its session. */
  readonly id: string;
  readonly name: string;
  /** The address of a dashboard, of Ray or of a hub, or "auto"; empty for a cluster that is not saved. */
  readonly address: string;
}

/** The configuration key that holds the id of the cluster. raydap ignores it. */
export const CLUSTER = '__cluster';

const STORAGE_KEY = 'raydap.clusters';

/** The saved clusters, in VS Code's storage. */
export class SavedClusters {
  constructor(private readonly memento: Memento) {}

  get all(): readonly Cluster[] {
    return this.memento.get<readonly Cluster[]>(STORAGE_KEY, []);
  }

  /** Save a cluster and return it. If a cluster with this address is already saved, return that cluster. */
  async add(address: string, name = defaultName(address)): Promise<Cluster> {
    const found = this.all.find((cluster) => isSame(cluster.address, address));
    if (found !== undefined) {
      return found;
    }
    const added = { id: this.unusedId(), name, address };
    await this.memento.update(STORAGE_KEY, [...this.all, added]);
    return added;
  }

  async change(id: string, difference: Partial<Omit<Cluster, 'id'>>): Promise<void> {
    const changed = this.all.map((cluster) => (cluster.id === id ? { ...cluster, ...difference } : cluster));
    await this.memento.update(STORAGE_KEY, changed);
  }

  async remove(id: string): Promise<void> {
    await this.memento.update(
      STORAGE_KEY,
      this.all.filter((cluster) => cluster.id !== id),
    );
  }

  private unusedId(): string {
    return String(Math.max(0, ...this.all.map(({ id }) => Number(id))) + 1);
  }
}

/** Return the cluster that a configuration debugs; undefined if it is none of `clusters`. */
export function clusterOf(clusters: readonly Cluster[], configuration: Partial<Configuration>): Cluster | undefined {
  const id = configuration[CLUSTER];
  const named = typeof id === 'string' ? clusters.find((cluster) => cluster.id === id) : undefined;
  if (named !== undefined || configuration.workers !== undefined) {
    return named;
  }
  const address = hubOf(configuration) ?? configuration.dashboard ?? (configuration.request === 'attach' ? 'auto' : '');
  return typeof address === 'string' ? clusters.find((cluster) => isSame(cluster.address, address)) : undefined;
}

/** Return the configuration keys that name a cluster. */
export function configurationOf({ address }: Cluster): { readonly hub: string } | { readonly dashboard: string } {
  return isHubUrl(address) ? { hub: address } : { dashboard: address };
}

/** Return a configuration that debugs a saved cluster. */
export function debugConfiguration(cluster: Cluster): Configuration {
  return { ...ATTACH, name: `Ray: ${cluster.name}`, ...configurationOf(cluster), [CLUSTER]: cluster.id };
}

/**
 * Return the arguments of a watcher. It attaches to no worker, and at a hub it is an observer. The first client of a
 * hub determines what is debugged there, so a watcher sends the same folder as a debug session of this window.
 */
export function watcherArguments(cluster: Cluster, workspaceFolder?: string): WatcherArguments {
  if (!isHubUrl(cluster.address)) {
    return { first: { ...configurationOf(cluster), autoAttach: false } };
  }
  const join = { autoAttach: false, role: 'observer' };
  return workspaceFolder === undefined ? { first: join } : { first: { ...join, workspaceFolder }, join };
}

/** Return a sentence that explains why this cannot be the address of a cluster; undefined if it can. */
export function addressError(address: string): string | undefined {
  const text = address.trim();
  if (text === '') {
    return 'Enter the URL of a dashboard or a hub, a Ray address, or auto.';
  }
  if (/\s/.test(text)) {
    return 'An address must not contain spaces.';
  }
  return isHubUrl(text) ? hubUrlError(text) : undefined;
}

/** Return the name for a cluster that the user has not named. */
export function defaultName(address: string): string {
  return address === 'auto' ? 'This machine' : address.replace(/^\w+:\/\//, '').replace(/\/.*$/, '');
}

/** Return whether two addresses are those of the same cluster. */
export function isSame(one: string, other: string): boolean {
  return normalized(one) === normalized(other);
}

function normalized(address: string): string {
  return address.toLowerCase().replace('//localhost', '//127.0.0.1').replace(/\/+$/, '');
}
