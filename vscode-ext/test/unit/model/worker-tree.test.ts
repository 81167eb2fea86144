import assert from 'node:assert/strict';
import { test } from 'node:test';

import { GroupNode, topmost, WorkerTree, type TreeNode } from '../../../src/model/worker-tree';
import { RowCache, rowOf } from '../../../src/text/rows';
import { worker } from '../example';

/** Return the tree as lines: the names of groups and the keys of workers. */
function outline(nodes: readonly TreeNode[], indent = ''): string[] {
  return nodes.flatMap((node) =>
    node instanceof GroupNode
      ? [indent + node.name, ...outline(node.children, `${indent}  `)]
      : [`${indent}${node.worker.key} ${node.worker.state}`],
  );
}

function shown(tree: WorkerTree): string[] {
  return outline(tree.root.children);
}

test('workers are listed by job and actor class or task', () => {
  const tree = new WorkerTree();
  tree.replace([
    worker(1),
    worker(2, { actor: '', task: 'normalise' }),
    worker(3, { submission: 'nightly', job: '02000000' }),
    worker(4, { actor: '', task: 'driver train.py', type: 'driver' }),
  ]);
  assert.deepEqual(shown(tree), [
    'job 01000000',
    '  normalise',
    '    2 paused',
    '  Trainer',
    '    1 paused',
    '  4 paused',
    'nightly',
    '  Trainer',
    '    3 paused',
  ]);
});

test('a worker without job, class and task is directly below the cluster', () => {
  const tree = new WorkerTree();
  tree.replace([worker(1, { job: '', actor: '', task: '' })]);
  assert.deepEqual(shown(tree), ['1 paused']);
});

test('a worker moves when Ray reports its class, and empty groups are removed', () => {
  const tree = new WorkerTree();
  tree.replace([worker(1, { job: '', actor: '', task: '' })]);
  tree.apply([worker(1, { actor: 'Learner' })]);
  assert.deepEqual(shown(tree), ['job 01000000', '  Learner', '    1 paused']);
  tree.apply([worker(1, { actor: 'Trainer' })]);
  assert.deepEqual(shown(tree), ['job 01000000', '  Trainer', '    1 paused']);
});

test('a job gets its submission id as its name once Ray reports it', () => {
  const tree = new WorkerTree();
  tree.replace([worker(1), worker(2)]);
  tree.apply([worker(1, { submission: 'nightly' })]);
  tree.apply([worker(2, { submission: 'nightly' })]);
  assert.deepEqual(shown(tree), ['nightly', '  Trainer', '    1 paused', '    2 paused']);
});

test('stopped workers come first, and workers of one state are sorted by name', () => {
  const tree = new WorkerTree();
  tree.replace([worker(10), worker(9), worker(8, { state: 'running' })]);
  tree.apply([worker(10, { state: 'stopped' })]);
  assert.deepEqual(shown(tree).slice(2), ['    10 stopped', '    9 paused', '    8 running']);
});

test('unattached workers come after attached ones, and idle workers last', () => {
  const tree = new WorkerTree();
  tree.replace([
    worker(1, { state: 'alive' }),
    worker(2, { state: 'running' }),
    worker(3, { state: 'alive', job: '', actor: '', task: '' }),
    worker(4, { state: 'alive', job: '', actor: '', task: 'driver', type: 'driver' }),
  ]);
  const expected = [
    'job 01000000',
    '  Trainer',
    '    2 running',
    '    1 alive',
    '4 alive',
    'idle workers',
    '  3 alive',
  ];
  assert.deepEqual(shown(tree), expected);
  tree.apply([worker(3, { state: 'alive', actor: '', task: 'normalise' }), worker(1, { state: 'paused' })]);
  assert.deepEqual(shown(tree), [
    'job 01000000',
    '  normalise',
    '    3 alive',
    '  Trainer',
    '    1 paused',
    '    2 running',
    '4 alive',
  ]);
  tree.removeAttached();
  assert.deepEqual([tree.size, tree.root.tally.alive], [3, 2]);
});

test('every group counts its workers by state', () => {
  const tree = new WorkerTree();
  tree.replace([worker(1), worker(2), worker(3, { actor: 'Learner' })]);
  tree.apply([worker(1, { state: 'stopped' }), worker(3, { state: 'detached' })]);
  const expected = { stopped: 1, held: 0, attaching: 0, paused: 1, running: 0, gone: 0, alive: 0 };
  assert.deepEqual(tree.root.tally, expected);
  const [job] = tree.root.children as [GroupNode];
  assert.deepEqual(job.tally, expected);
  assert.deepEqual(shown(tree), ['job 01000000', '  Trainer', '    1 stopped', '    2 paused']);
});

test('a gone worker stays listed if it has a reason, and only the latest 20 do', () => {
  const tree = new WorkerTree();
  tree.replace(Array.from({ length: 30 }, (_, index) => worker(index + 1)));
  tree.apply([worker(1, { state: 'gone' })]);
  assert.equal(tree.size, 29);
  const rest = Array.from({ length: 29 }, (_, index) => worker(index + 2, { state: 'gone', problem: 'out of memory' }));
  tree.apply(rest);
  assert.equal(tree.size, 20);
  assert.equal(tree.get('10'), undefined);
  assert.equal(tree.get('11')?.worker.problem, 'out of memory');
  tree.removeGone();
  assert.deepEqual(shown(tree), []);
});

test('the reason of a crash may arrive after the worker is gone', () => {
  const tree = new WorkerTree();
  tree.replace([worker(1, { state: 'running' })]);
  tree.apply([worker(1, { state: 'gone' })]);
  assert.equal(tree.size, 0);
  tree.apply([worker(1, { state: 'gone', problem: 'it crashed' })]);
  assert.equal(tree.root.tally.gone, 1);
});

test('a new list removes all other workers except the gone ones', () => {
  const tree = new WorkerTree();
  tree.replace([worker(1), worker(2), worker(3, { state: 'gone', problem: 'it crashed' })]);
  tree.replace([worker(2)]);
  assert.deepEqual(shown(tree).slice(2), ['    2 paused', '    3 gone']);
});

test('the end of a session removes the attached workers', () => {
  const tree = new WorkerTree();
  tree.replace([worker(1), worker(2, { state: 'stopped' }), worker(3, { state: 'running' })]);
  tree.removeAttached();
  assert.deepEqual(shown(tree).slice(2), ['    1 paused']);
});

test('a change contains the worker before it', () => {
  const tree = new WorkerTree();
  tree.replace([worker(1, { state: 'stopped' })]);
  const [change] = tree.apply([worker(1, { state: 'gone', problem: 'it crashed' })]);
  assert.equal(change?.before?.state, 'stopped');
  assert.equal(change.worker.state, 'gone');
});

test('other changes of a worker do not change the beginning of its state', () => {
  let now = 100_000;
  const tree = new WorkerTree(() => now);
  tree.replace([worker(1, { age: 30 })]);
  assert.equal(tree.get('1')?.since, 70_000);
  now = 110_000;
  tree.apply([worker(1, { age: 40, actorName: 'first' })]);
  assert.equal(tree.get('1')?.since, 70_000);
});

/** Simulate a view of all rows. The returned function returns how many rows were made and shown since its last call. */
function viewed(tree: WorkerTree): () => { described: number; shown: number } {
  let described = 0;
  let shown = 0;
  const rows = new RowCache((node) => {
    described += 1;
    return rowOf(node, 0);
  });
  const show = (node: TreeNode): void => {
    shown += 1;
    rows.get(node);
    if (node instanceof GroupNode) {
      node.children.forEach(show);
    }
  };
  return () => {
    described = 0;
    shown = 0;
    const nodes = tree.takeChanges();
    rows.forget(nodes);
    topmost(nodes).forEach(show);
    return { described, shown };
  };
}

function fiveHundred(): WorkerTree {
  const tree = new WorkerTree();
  const actors = ['Trainer', 'Rollout', 'Learner', 'Reader'];
  tree.replace(Array.from({ length: 500 }, (_, index) => worker(index + 1, { actor: actors[index % 4] ?? '' })));
  return tree;
}

test('only the changed workers of 500 get new rows', () => {
  const tree = fiveHundred();
  const view = viewed(tree);
  // 500 workers, four classes, the job and the cluster.
  assert.deepEqual(view(), { described: 506, shown: 506 });
  tree.apply(Array.from({ length: 24 }, (_, index) => worker(4 * index + 1, { state: 'stopped' })));
  // The row of a group depends on the one above it, so all six are made anew.
  assert.equal(view().described, 24 + 6);
  assert.deepEqual(view(), { described: 0, shown: 0 });
});

test('a change without effect on counts, names or order marks one row of 500', () => {
  const tree = fiveHundred();
  const view = viewed(tree);
  view();
  tree.apply(Array.from({ length: 24 }, (_, index) => worker(4 * index + 1, { actorName: `trainer ${index}` })));
  assert.deepEqual(view(), { described: 24, shown: 24 });
});

test('a renamed job gets a new row', () => {
  const tree = fiveHundred();
  const rows = new RowCache((node) => rowOf(node, 0));
  const [job] = tree.root.children as [GroupNode];
  assert.equal(rows.get(job).label, 'job 01000000');
  tree.takeChanges();
  tree.apply([worker(1, { submission: 'nightly' })]);
  rows.forget(tree.takeChanges());
  assert.equal(rows.get(job).label, 'nightly');
});

test('updating ages marks the workers and not their groups', () => {
  const tree = fiveHundred();
  const view = viewed(tree);
  view();
  tree.markAges();
  assert.deepEqual(view(), { described: 500, shown: 500 });
});

test('a repeated report without a difference moves no row', () => {
  const tree = fiveHundred();
  const view = viewed(tree);
  view();
  const [job] = tree.root.children as [GroupNode];
  const before = job.children;
  tree.apply([worker(1, { actor: 'Trainer', age: 5 })]);
  assert.equal(job.children, before);
  assert.deepEqual(view(), { described: 1, shown: 1 });
});
