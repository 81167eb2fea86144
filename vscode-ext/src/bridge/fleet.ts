/** The workers of one cluster as a tree: jobs, then actor classes or tasks, then workers. */

import { noTally, SHOWN, type State, type Tally, type Worker } from './worker';

/** So many workers that are gone are remembered. */
const GONE = 20;

export class Branch {
  readonly tally: Tally = noTally();
  readonly nodes = new Map<string, Node>();
  private sorted: readonly Node[] | undefined;

  constructor(
    readonly kind: 'cluster' | 'job' | 'actor' | 'task',
    readonly parent: Branch | undefined,
    readonly key: string,
    public name: string,
  ) {}

  /** Branches by name, then workers: stopped ones first. */
  get children(): readonly Node[] {
    this.sorted ??= [...this.nodes.values()].sort(compare);
    return this.sorted;
  }

  reorder(): void {
    this.sorted = undefined;
  }

  *leaves(): Generator<Leaf> {
    for (const node of this.nodes.values()) {
      if (node instanceof Leaf) {
        yield node;
      } else {
        yield* node.leaves();
      }
    }
  }
}

export class Leaf {
  constructor(
    readonly parent: Branch,
    public worker: Worker,
    /** When the state began, in milliseconds. */
    public since: number,
  ) {}
}

export type Node = Branch | Leaf;

/** What became of one worker; `before` is undefined for a new one. */
export interface Change {
  readonly before: Worker | undefined;
  readonly worker: Worker;
}

export interface Changes {
  /** Each of them is described anew. */
  readonly nodes: readonly Node[];
  /** Those of them that are below no other: whoever shows these again, with all below them, has shown everything. */
  readonly roots: readonly Node[];
}

export class Fleet {
  readonly root = new Branch('cluster', undefined, '', '');
  private readonly leaves = new Map<string, Leaf>();
  private readonly gone = new Set<string>();
  private changed = new Set<Node>();

  constructor(private readonly now: () => number = Date.now) {}

  get size(): number {
    return this.leaves.size;
  }

  get(key: string): Leaf | undefined {
    return this.leaves.get(key);
  }

  /** Takes those that are new or different; the work is proportional to their number. */
  apply(workers: readonly Worker[]): Change[] {
    return workers.map((worker) => {
      const before = this.leaves.get(worker.key)?.worker;
      if (isShown(worker)) {
        this.put(worker);
      } else {
        this.drop(worker.key);
      }
      return { before, worker };
    });
  }

  /** Takes all there are: what is not among them is dropped, except for those that were told to be gone. */
  replace(workers: readonly Worker[]): Change[] {
    const listed = new Set(workers.map(({ key }) => key));
    this.dropUnless((worker) => listed.has(worker.key) || worker.state === 'gone');
    return this.apply(workers);
  }

  /** Whoever told of the workers has left, and with it the debugger: only what was not attached is as it was. */
  leave(): void {
    this.dropUnless(({ state }) => state === 'paused' || state === 'gone');
  }

  forgetGone(): void {
    this.dropUnless(({ state }) => state !== 'gone');
  }

  /** What is different since this was last asked, without what is no more: that is a change of its branch. */
  takeChanges(): Changes {
    const { changed } = this;
    this.changed = new Set();
    return { nodes: [...changed], roots: [...changed].filter((node) => !isBelow(node, changed)) };
  }

  /** Times have passed: whatever is told of them has to be shown anew. */
  touchAges(): void {
    for (const leaf of this.leaves.values()) {
      this.changed.add(leaf);
    }
  }

  private put(worker: Worker): void {
    const { key, state } = worker;
    const path = pathOf(worker);
    const before = this.leaves.get(key);
    const since = this.now() - worker.age * 1000;
    if (before !== undefined && isIn(before.parent, path)) {
      const previous = before.worker;
      Object.assign(before, { worker, since });
      this.changed.add(before);
      if (previous.state !== state) {
        this.count(before.parent, previous.state, -1);
        this.count(before.parent, state, 1);
      }
      if (previous.state !== state || previous.name !== worker.name) {
        before.parent.reorder();
        this.changed.add(before.parent);
      }
    } else {
      this.drop(key);
      const parent = this.branch(path);
      const leaf = new Leaf(parent, worker, since);
      this.leaves.set(key, leaf);
      this.link(parent, `worker:${key}`, leaf);
      this.count(parent, state, 1);
    }
    this.remember(key, state);
  }

  private remember(key: string, state: State): void {
    this.gone.delete(key);
    if (state === 'gone') {
      this.gone.add(key);
      const [oldest] = this.gone;
      if (this.gone.size > GONE && oldest !== undefined) {
        this.drop(oldest);
      }
    }
  }

  private drop(key: string): void {
    const leaf = this.leaves.get(key);
    if (leaf === undefined) {
      return;
    }
    this.leaves.delete(key);
    this.gone.delete(key);
    this.changed.delete(leaf);
    this.count(leaf.parent, leaf.worker.state, -1);
    this.unlink(leaf.parent, `worker:${key}`);
  }

  private dropUnless(stays: (worker: Worker) => boolean): void {
    for (const { worker } of [...this.leaves.values()]) {
      if (!stays(worker)) {
        this.drop(worker.key);
      }
    }
  }

  private branch(path: Path): Branch {
    let parent = this.root;
    for (const { kind, key, name } of path) {
      const found = parent.nodes.get(key);
      if (found instanceof Branch) {
        parent = this.rename(found, name);
      } else {
        const branch = new Branch(kind, parent, key, name);
        this.link(parent, key, branch);
        parent = branch;
      }
    }
    return parent;
  }

  /** Ray may say only later under which name a job was submitted. */
  private rename(branch: Branch, name: string): Branch {
    if (branch.name !== name) {
      branch.name = name;
      branch.parent?.reorder();
      this.changed.add(branch.parent ?? branch);
    }
    return branch;
  }

  private link(parent: Branch, key: string, node: Node): void {
    parent.nodes.set(key, node);
    parent.reorder();
    this.changed.add(parent);
  }

  /** Removes a node, and each branch that is empty without it. */
  private unlink(parent: Branch, key: string): void {
    parent.nodes.delete(key);
    parent.reorder();
    this.changed.add(parent);
    if (parent.nodes.size === 0 && parent.parent !== undefined) {
      this.changed.delete(parent);
      this.unlink(parent.parent, parent.key);
    }
  }

  private count(from: Branch, state: State, difference: 1 | -1): void {
    for (let branch: Branch | undefined = from; branch !== undefined; branch = branch.parent) {
      branch.tally[state as keyof Tally] += difference;
      this.changed.add(branch);
    }
  }
}

type Path = readonly { readonly kind: 'job' | 'actor' | 'task'; readonly key: string; readonly name: string }[];

/** The levels above a worker; what has no name is no level of its own. */
function pathOf({ type, job, submission, actor, task }: Worker): Path {
  const path: Path[number][] = [];
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

function isIn(branch: Branch, path: Path): boolean {
  let at: Branch | undefined = branch;
  for (const { key, name } of [...path].reverse()) {
    if (at?.key !== key || at.name !== name) {
      return false;
    }
    at = at.parent;
  }
  return at !== undefined && at.parent === undefined;
}

function isShown({ state, problem }: Worker): boolean {
  return state === 'gone' ? problem !== '' : state !== 'detached';
}

function isBelow(node: Node, others: ReadonlySet<Node>): boolean {
  for (let above = node.parent; above !== undefined; above = above.parent) {
    if (others.has(above)) {
      return true;
    }
  }
  return false;
}

function compare(one: Node, other: Node): number {
  if (one instanceof Leaf && other instanceof Leaf) {
    const rank = ({ worker }: Leaf): number => SHOWN.indexOf(worker.state as keyof Tally);
    return rank(one) - rank(other) || byName(one.worker, other.worker);
  }
  if (one instanceof Branch && other instanceof Branch) {
    return byName(one, other);
  }
  return one instanceof Branch ? -1 : 1;
}

function byName(one: { readonly name: string }, other: { readonly name: string }): number {
  return one.name.localeCompare(other.name, undefined, { numeric: true });
}
