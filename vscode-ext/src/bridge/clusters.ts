/** The clusters that the user has added, and which of them a session debugs. */

import { hubOf, type Configuration } from './configuration';
import { complaint } from './hub';
import type { Memento } from './tokens';

export interface Cluster {
  readonly id: string;
  readonly name: string;
  /** Of a dashboard, of Ray, "auto", or of a hub: it begins with ws://, wss://, tcp:// or tcps://. */
  readonly address: string;
}

/** The key by which a session says for which cluster it was started; the bridge drops it. */
export const CLUSTER = '__cluster';

const KEY = 'raydap.clusters';

export class Clusters {
  constructor(private readonly memento: Memento) {}

  get all(): readonly Cluster[] {
    return this.memento.get<readonly Cluster[]>(KEY, []);
  }

  /** One that is there already is not added again. */
  async add(address: string, name = nameOf(address)): Promise<Cluster> {
    const found = this.all.find((cluster) => isSame(cluster.address, address));
    if (found !== undefined) {
      return found;
    }
    const added = { id: this.unusedId(), name, address };
    await this.memento.update(KEY, [...this.all, added]);
    return added;
  }

  async change(id: string, difference: Partial<Omit<Cluster, 'id'>>): Promise<void> {
    const changed = this.all.map((cluster) => (cluster.id === id ? { ...cluster, ...difference } : cluster));
    await this.memento.update(KEY, changed);
  }

  async remove(id: string): Promise<void> {
    await this.memento.update(
      KEY,
      this.all.filter((cluster) => cluster.id !== id),
    );
  }

  private unusedId(): string {
    return String(Math.max(0, ...this.all.map(({ id }) => Number(id))) + 1);
  }
}

/** The cluster of a session, if it is one of these. */
export function clusterOf(clusters: readonly Cluster[], configuration: Partial<Configuration>): Cluster | undefined {
  const id = configuration[CLUSTER];
  if (typeof id === 'string') {
    return clusters.find((cluster) => cluster.id === id);
  }
  if (configuration.workers !== undefined) {
    return undefined;
  }
  const address = hubOf(configuration) ?? configuration.dashboard ?? (configuration.request === 'attach' ? 'auto' : '');
  return typeof address === 'string' ? clusters.find((cluster) => isSame(cluster.address, address)) : undefined;
}

/** What a session or a watcher of this cluster is started with. */
export function argumentsFor({ address }: Cluster): { readonly hub: string } | { readonly dashboard: string } {
  return isHub(address) ? { hub: address } : { dashboard: address };
}

export function isHub(address: string): boolean {
  return /^(wss?|tcps?):/i.test(address);
}

/** Why this is no address, as a sentence; undefined if it may be one. */
export function objection(address: string): string | undefined {
  const text = address.trim();
  if (text === '') {
    return 'Write the URL of a dashboard or hub, a Ray address, or auto.';
  }
  if (/\s/.test(text)) {
    return 'An address has no spaces.';
  }
  return isHub(text) ? complaint(text) : undefined;
}

export function nameOf(address: string): string {
  return address === 'auto' ? 'This machine' : address.replace(/^\w+:\/\//, '').replace(/\/.*$/, '');
}

/** Addresses that lead to the same place are the same after this. */
function plain(address: string): string {
  return address.toLowerCase().replace('//localhost', '//127.0.0.1').replace(/\/+$/, '');
}

function isSame(one: string, other: string): boolean {
  return plain(one) === plain(other);
}
