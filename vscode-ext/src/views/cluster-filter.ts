/** The filter of the Ray view: a set of workers, in the syntax that all of raydap's requests accept. */

import * as vscode from 'vscode';

import { ClusterConnection } from '../model/cluster-connection';
import type { ClusterRegistry } from '../model/cluster-registry';
import { emptyTally, type ShownState, type Tally } from '../model/tally';
import { Latest, LatestRead } from '../model/timers';
import { GroupNode, type TreeNode } from '../model/worker-tree';

/** The shortest time between two reads of the set's workers. */
const INTERVAL_MS = 1_000;

/** The keys of the workers in the set. */
type Keys = ReadonlySet<string>;

/** The answer of a cluster: the workers in the set `text`, or a sentence with the reason why there is no answer. */
type Answer = { readonly text: string } & (
  { readonly keys: Keys; readonly problem: undefined } | { readonly keys: undefined; readonly problem: string }
);

/** The filter that the user has set. */
export class ClusterFilter implements vscode.Disposable {
  /** The set; empty without a filter. */
  text = '';
  private readonly changeEmitter = new vscode.EventEmitter<undefined>();
  /** Fires when the rows to show or the problem have changed. */
  readonly onDidChange = this.changeEmitter.event;
  /** The workers in the set `text`, by cluster. Without an answer, all workers of the cluster are shown. */
  private keys = new Map<ClusterConnection, Keys>();
  /**
   * The reason why the last read of a cluster failed. Its earlier answer stays valid, to protect the hidden workers.
   */
  private problems = new Map<ClusterConnection, string>();
  private readonly reads = new Map<ClusterConnection, LatestRead<Answer>>();
  private readonly latest = new Latest();

  constructor(private readonly registry: ClusterRegistry) {}

  /** Ask the user for a set, and show its workers. */
  async ask(): Promise<void> {
    const text = await vscode.window.showInputBox({
      title: 'Filter Workers',
      prompt: 'A set of workers, such as actor:Trainer not rank:0. Leave it empty to show all workers.',
      value: this.text,
      ignoreFocusOut: true,
    });
    if (text !== undefined) {
      await this.set(text.trim());
    }
  }

  /**
   * Show the workers in this set. Resolve when the first cluster accepts the set. If all refuse it, reject and keep the
   * present filter.
   */
  async set(text: string): Promise<void> {
    const isLatest = this.latest.begin();
    const { connected } = this;
    if (text !== '' && connected.length === 0) {
      throw new Error('The filter was not set: no cluster is connected that can check it. Connect a cluster first.');
    }
    const keys = new Map<ClusterConnection, Keys>();
    const problems = new Map<ClusterConnection, string>();
    const asked = (text === '' ? [] : connected).map(async (connection) => {
      const answer = await select(connection, text);
      if (this.keys === keys) {
        // The filter is in use, because another cluster has already accepted the set.
        this.take(connection, answer);
      } else if (answer.keys !== undefined) {
        keys.set(connection, answer.keys);
      } else {
        problems.set(connection, answer.problem);
        throw new Error(answer.problem);
      }
    });
    if (text !== '') {
      await firstOf(asked);
    }
    if (isLatest()) {
      this.text = text;
      this.keys = keys;
      this.problems = problems;
      this.changeEmitter.fire(undefined);
      void vscode.commands.executeCommand('setContext', 'raydap.filtered', text !== '');
    }
  }

  /** Sentences about the clusters for which the filter fails; empty if there is none. */
  get problem(): string {
    return [...this.problems]
      .map(([{ cluster }, problem]) => `The filter fails for ${cluster.name}: ${problem}`)
      .join(' ');
  }

  /** Read the workers in the set again, because workers have changed. */
  update(): void {
    const { connected } = this;
    [...this.reads.keys()].filter((each) => !connected.includes(each)).forEach((each) => this.forget(each));
    if (this.text !== '') {
      connected.forEach((connection) => this.readOf(connection).call());
    }
  }

  /** Return whether the filter shows a node. A group is shown if one of its workers is in the set. */
  shows(connection: ClusterConnection | undefined, node: TreeNode): boolean {
    const keys = this.keysOf(connection);
    if (keys === undefined) {
      return true;
    }
    const workers = node instanceof GroupNode ? [...node.workers()] : [node];
    return workers.some(({ worker }) => keys.has(worker.key));
  }

  /** Return the set that the filter shows of a cluster; undefined if it shows all workers of the cluster. */
  selectOf(connection: ClusterConnection | undefined): string | undefined {
    return this.keysOf(connection) && this.text;
  }

  /** The keys of all shown workers; undefined without a filter. */
  get shown(): readonly string[] | undefined {
    const keys = (each: ClusterConnection): Iterable<string> =>
      this.keysOf(each) ?? [...each.tree.root.workers()].map(({ worker }) => worker.key);
    return this.text === '' ? undefined : this.registry.all.flatMap((each) => [...keys(each)]);
  }

  /** Return the counts of the shown workers of a group. */
  tallyOf(connection: ClusterConnection | undefined, group: GroupNode): Readonly<Tally> {
    const keys = this.keysOf(connection);
    if (keys === undefined) {
      return group.tally;
    }
    const tally = emptyTally();
    for (const { worker } of group.workers()) {
      if (keys.has(worker.key)) {
        tally[worker.state as ShownState] += 1;
      }
    }
    return tally;
  }

  dispose(): void {
    this.latest.begin();
    vscode.Disposable.from(...this.reads.values(), this.changeEmitter).dispose();
  }

  private get connected(): readonly ClusterConnection[] {
    return this.registry.all.filter(({ status }) => ['watching', 'session'].includes(status.kind));
  }

  private keysOf(connection: ClusterConnection | undefined): Keys | undefined {
    return this.text === '' ? undefined : connection && this.keys.get(connection);
  }

  /** Return the read of a cluster. Each cluster has its own, so that a slow cluster does not delay the others. */
  private readOf(connection: ClusterConnection): LatestRead<Answer> {
    const found = this.reads.get(connection);
    const read =
      found ??
      new LatestRead(
        () => select(connection, this.text),
        (answer) => this.take(connection, answer),
        INTERVAL_MS,
      );
    this.reads.set(connection, read);
    return read;
  }

  private take(connection: ClusterConnection, { text, keys, problem }: Answer): void {
    const before = this.keys.get(connection);
    const isSame = keys === undefined || (before !== undefined && areEqual(before, keys));
    if (text !== this.text || (isSame && this.problems.get(connection) === problem)) {
      return;
    }
    if (keys === undefined) {
      this.problems.set(connection, problem);
    } else {
      this.keys.set(connection, keys);
      this.problems.delete(connection);
    }
    this.changeEmitter.fire(undefined);
  }

  private forget(connection: ClusterConnection): void {
    this.reads.get(connection)?.dispose();
    this.reads.delete(connection);
    this.keys.delete(connection);
    this.problems.delete(connection);
  }
}

async function select(connection: ClusterConnection, text: string): Promise<Answer> {
  try {
    const { workers } = await connection.request('raydap/select', { select: text });
    return { text, keys: new Set(workers), problem: undefined };
  } catch (error) {
    return { text, keys: undefined, problem: error instanceof Error ? error.message : String(error) };
  }
}

/** Resolve as soon as one of the promises resolves. If all reject, reject with the first error. */
async function firstOf(all: readonly Promise<void>[]): Promise<void> {
  try {
    await Promise.any(all);
  } catch (error) {
    throw error instanceof AggregateError ? (error.errors as unknown[])[0] : error;
  }
}

function areEqual(one: Keys, other: Keys): boolean {
  return one.size === other.size && [...one].every((key) => other.has(key));
}
