/** The workers of one cluster as a tree: jobs, then actor classes or tasks, then workers. */

import type { WorkerEntry } from '../protocol/messages';
import { emptyTally, SHOWN_STATES, type ShownState, type Tally } from './tally';

/** The number of gone workers that stay in the tree. When there are more, the oldest are removed. */
const MAX_GONE = 20;

/** A group of workers: those of a cluster, a job, an actor class or a task, or the idle workers. */
export class GroupNode {
  readonly tally: Tally = emptyTally();
  readonly childByKey = new Map<string, TreeNode>();
  private sorted: readonly TreeNode[] | undefined;

  constructor(
    readonly kind: 'cluster' | 'job' | 'actor' | 'task' | 'idle',
    readonly parent: GroupNode | undefined,
    /** Unique among the children of the parent. */
    readonly key: string,
    public name: string,
  ) {}

  /** The sorted children: groups by name, then workers with the stopped ones first, then the group of idle workers. */
  get children(): readonly TreeNode[] {
    this.sorted ??= [...this.childByKey.values()].sort(compare);
    return this.sorted;
  }

  /** Drop the sorted children, because a name, a state or a child has changed. */
  sortAgain(): void {
    this.sorted = undefined;
  }

  /** Yield all workers of this group and of the groups below it. */
  *workers(): Generator<WorkerNode> {
    for (const node of this.childByKey.values()) {
      if (node instanceof WorkerNode) {
        yield node;
      } else {
        yield* node.workers();
      }
    }
  }
}

/** One worker. */
export class WorkerNode {
  constructor(
    readonly parent: GroupNode,
    public worker: WorkerEntry,
    /** When the state of the worker began, in milliseconds. */
    public since: number,
  ) {}
}

export type TreeNode = GroupNode | WorkerNode;

/** A change of one worker. */
export interface Change {
  /** The worker before the change; undefined for a new worker. */
  readonly before: WorkerEntry | undefined;
  readonly worker: WorkerEntry;
}

/** Return whether the worker has crashed, or the debugger has lost it. */
export function isLoss({ before, worker }: Change): boolean {
  return worker.state === 'gone' && worker.problem !== '' && before?.state !== 'gone';
}

/** Return the nodes that are not below others of them. A view that redraws these and all nodes below redraws all. */
export function topmost(nodes: readonly TreeNode[]): TreeNode[] {
  const all = new Set(nodes);
  return nodes.filter((node) => !isBelow(node, all));
}

/** The tree of one cluster's workers. It records the nodes that have changed. */
export class WorkerTree {
  readonly root = new GroupNode('cluster', undefined, '', '');
  private readonly nodes = new Map<string, WorkerNode>();
  private readonly gone = new Set<string>();
  private changed = new Set<TreeNode>();

  constructor(private readonly now: () => number = Date.now) {}

  /** The number of workers. */
  get size(): number {
    return this.nodes.size;
  }

  get(key: string): WorkerNode | undefined {
    return this.nodes.get(key);
  }

  /** Add the new workers and update the changed ones. The cost is proportional to the number of `workers`. */
  apply(workers: readonly WorkerEntry[]): Change[] {
    return workers.map((worker) => {
      const before = this.nodes.get(worker.key)?.worker;
      if (isShown(worker)) {
        this.put(worker);
      } else {
        this.remove(worker.key);
      }
      return { before, worker };
    });
  }

  /** Make `workers` the workers of the tree: remove all others, except for the workers that are gone. */
  replace(workers: readonly WorkerEntry[]): Change[] {
    const listed = new Set(workers.map(({ key }) => key));
    this.removeUnless((worker) => listed.has(worker.key) || worker.state === 'gone');
    return this.apply(workers);
  }

  /** Remove the workers that a debugger was attached to, because the end of its session has changed their state. */
  removeAttached(): void {
    this.removeUnless(({ state }) => ['paused', 'gone', 'alive'].includes(state));
  }

  removeGone(): void {
    this.removeUnless(({ state }) => state !== 'gone');
  }

  /** Return the nodes that have changed since the last call; for a removed node, its parent. */
  takeChanges(): TreeNode[] {
    const { changed } = this;
    this.changed = new Set();
    return [...changed];
  }

  /** Mark all workers as changed, because the ages in their rows have changed. */
  markAges(): void {
    for (const node of this.nodes.values()) {
      this.changed.add(node);
    }
  }

  private put(worker: WorkerEntry): void {
    const { key, state } = worker;
    const parent = this.groupOf(worker);
    const node = this.nodes.get(key);
    const since = this.now() - worker.age * 1000;
    if (node?.parent === parent) {
      const before = node.worker;
      Object.assign(node, { worker, since });
      this.changed.add(node);
      if (before.state !== state) {
        this.count(parent, before, -1);
        this.count(parent, worker, 1);
      }
      if (before.state !== state || before.name !== worker.name) {
        parent.sortAgain();
        this.changed.add(parent);
      }
    } else {
      this.remove(key);
      const added = new WorkerNode(parent, worker, since);
      this.nodes.set(key, added);
      this.addChild(parent, `worker:${key}`, added);
      this.count(parent, worker, 1);
    }
    this.limitGone(worker);
  }

  private limitGone({ key, state }: WorkerEntry): void {
    this.gone.delete(key);
    if (state === 'gone') {
      this.gone.add(key);
      const [oldest] = this.gone;
      if (this.gone.size > MAX_GONE && oldest !== undefined) {
        this.remove(oldest);
      }
    }
  }

  private remove(key: string): void {
    const node = this.nodes.get(key);
    if (node === undefined) {
      return;
    }
    this.nodes.delete(key);
    this.gone.delete(key);
    this.changed.delete(node);
    this.count(node.parent, node.worker, -1);
    this.removeChild(node.parent, `worker:${key}`);
  }

  private removeUnless(stays: (worker: WorkerEntry) => boolean): void {
    for (const { worker } of [...this.nodes.values()]) {
      if (!stays(worker)) {
        this.remove(worker.key);
      }
    }
  }

  /** Return the group that a worker belongs to. Add missing groups and rename groups on the path to it. */
  private groupOf(worker: WorkerEntry): GroupNode {
    let parent = this.root;
    for (const { kind, key, name } of pathOf(worker)) {
      const found = parent.childByKey.get(key);
      if (found instanceof GroupNode) {
        this.rename(found, name);
        parent = found;
      } else {
        const group = new GroupNode(kind, parent, key, name);
        this.addChild(parent, key, group);
        parent = group;
      }
    }
    return parent;
  }

  /** Rename a group. A job gets another name if Ray reports its submission id only later. */
  private rename(group: GroupNode, name: string): void {
    if (group.name !== name) {
      group.name = name;
      group.parent?.sortAgain();
      this.changed.add(group).add(group.parent ?? group);
    }
  }

  private addChild(parent: GroupNode, key: string, node: TreeNode): void {
    parent.childByKey.set(key, node);
    parent.sortAgain();
    this.changed.add(parent);
  }

  /** Remove a node, and each group that is empty without it. */
  private removeChild(parent: GroupNode, key: string): void {
    parent.childByKey.delete(key);
    parent.sortAgain();
    this.changed.add(parent);
    if (parent.childByKey.size === 0 && parent.parent !== undefined) {
      this.changed.delete(parent);
      this.removeChild(parent.parent, parent.key);
    }
  }

  private count(from: GroupNode, { state }: WorkerEntry, difference: 1 | -1): void {
    for (let group: GroupNode | undefined = from; group !== undefined; group = group.parent) {
      group.tally[state as ShownState] += difference;
      this.changed.add(group);
    }
  }
}

type PathEntry = Pick<GroupNode, 'kind' | 'key' | 'name'>;

/** Return the groups above a worker, from the top. A job, class or task without a name has no group. */
function pathOf({ type, state, job, submission, actor, task }: WorkerEntry): PathEntry[] {
  if (state === 'alive' && type === 'worker' && actor === '' && task === '') {
    return [{ kind: 'idle', key: 'idle', name: 'idle workers' }];
  }
  const path: PathEntry[] = [];
  if (job !== '' || submission !== '') {
    path.push({ kind: 'job', key: `job:${job || submission}`, name: submission || `job ${job}` });
  }
  if (actor !== '') {
    path.push({ kind: 'actor', key: `actor:${actor}`, name: actor });
  } else if (task !== '' && type === 'worker') {
    path.push({ kind: 'task', key: `task:${task}`, name: task });
  }
  return path;
}

function isShown({ state, problem }: WorkerEntry): boolean {
  return state === 'gone' ? problem !== '' : state !== 'detached';
}

function isBelow(node: TreeNode, others: ReadonlySet<TreeNode>): boolean {
  for (let above = node.parent; above !== undefined; above = above.parent) {
    if (others.has(above)) {
      return true;
    }
  }
  return false;
}

function compare(one: TreeNode, other: TreeNode): number {
  if (one instanceof WorkerNode && other instanceof WorkerNode) {
    const rank = ({ worker }: WorkerNode): number => SHOWN_STATES.indexOf(worker.state as ShownState);
    return rank(one) - rank(other) || byName(one.worker, other.worker);
  }
  if (one instanceof GroupNode && other instanceof GroupNode && one.kind !== 'idle' && other.kind !== 'idle') {
    return byName(one, other);
  }
  return placeOf(one) - placeOf(other);
}

function placeOf(node: TreeNode): number {
  return node instanceof WorkerNode ? 1 : node.kind === 'idle' ? 2 : 0;
}

function byName(one: { readonly name: string }, other: { readonly name: string }): number {
  return one.name.localeCompare(other.name, undefined, { numeric: true });
}
