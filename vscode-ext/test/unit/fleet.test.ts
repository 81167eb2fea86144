import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Branch, Fleet, type Node } from '../../src/bridge/fleet';
import { Rows } from '../../src/bridge/rows';
import { describe } from '../../src/bridge/words';
import { worker } from './example';

/** The tree as lines: names of branches, keys of workers. */
function outline(nodes: readonly Node[], indent = ''): string[] {
  return nodes.flatMap((node) =>
    node instanceof Branch
      ? [indent + node.name, ...outline(node.children, `${indent}  `)]
      : [`${indent}${node.worker.key} ${node.worker.state}`],
  );
}

function shown(fleet: Fleet): string[] {
  return outline(fleet.root.children);
}

test('workers are listed by job and actor class or task', () => {
  const fleet = new Fleet();
  fleet.replace([
    worker(1),
    worker(2, { actor: '', task: 'normalise' }),
    worker(3, { submission: 'nightly', job: '02000000' }),
    worker(4, { actor: '', task: 'driver train.py', type: 'driver' }),
  ]);
  assert.deepEqual(shown(fleet), [
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

test('what has no name is no level', () => {
  const fleet = new Fleet();
  fleet.replace([worker(1, { job: '', actor: '', task: '' })]);
  assert.deepEqual(shown(fleet), ['1 paused']);
});

test('a worker moves when Ray says what it is, and leaves no empty level behind', () => {
  const fleet = new Fleet();
  fleet.replace([worker(1, { job: '', actor: '', task: '' })]);
  fleet.apply([worker(1, { actor: 'Learner' })]);
  assert.deepEqual(shown(fleet), ['job 01000000', '  Learner', '    1 paused']);
  fleet.apply([worker(1, { actor: 'Trainer' })]);
  assert.deepEqual(shown(fleet), ['job 01000000', '  Trainer', '    1 paused']);
});

test('a job is called as it was submitted as soon as that is known', () => {
  const fleet = new Fleet();
  fleet.replace([worker(1), worker(2)]);
  fleet.apply([worker(1, { submission: 'nightly' })]);
  fleet.apply([worker(2, { submission: 'nightly' })]);
  assert.deepEqual(shown(fleet), ['nightly', '  Trainer', '    1 paused', '    2 paused']);
});

test('stopped ones come first, and equal ones by name', () => {
  const fleet = new Fleet();
  fleet.replace([worker(10), worker(9), worker(8, { state: 'running' })]);
  fleet.apply([worker(10, { state: 'stopped' })]);
  assert.deepEqual(shown(fleet).slice(2), ['    10 stopped', '    9 paused', '    8 running']);
});

test('every level counts its workers', () => {
  const fleet = new Fleet();
  fleet.replace([worker(1), worker(2), worker(3, { actor: 'Learner' })]);
  fleet.apply([worker(1, { state: 'stopped' }), worker(3, { state: 'detached' })]);
  const expected = { stopped: 1, attaching: 0, paused: 1, running: 0, gone: 0 };
  assert.deepEqual(fleet.root.tally, expected);
  const [job] = fleet.root.children as [Branch];
  assert.deepEqual(job.tally, expected);
  assert.deepEqual(shown(fleet), ['job 01000000', '  Trainer', '    1 stopped', '    2 paused']);
});

test('one that is gone is kept only if there is a reason to tell, and only the last 20', () => {
  const fleet = new Fleet();
  fleet.replace(Array.from({ length: 30 }, (_, index) => worker(index + 1)));
  fleet.apply([worker(1, { state: 'gone' })]);
  assert.equal(fleet.size, 29);
  const rest = Array.from({ length: 29 }, (_, index) => worker(index + 2, { state: 'gone', problem: 'out of memory' }));
  fleet.apply(rest);
  assert.equal(fleet.size, 20);
  assert.equal(fleet.get('10'), undefined);
  assert.equal(fleet.get('11')?.worker.problem, 'out of memory');
  fleet.forgetGone();
  assert.deepEqual(shown(fleet), []);
});

test('the reason for a crash may come when the worker is gone already', () => {
  const fleet = new Fleet();
  fleet.replace([worker(1, { state: 'running' })]);
  fleet.apply([worker(1, { state: 'gone' })]);
  assert.equal(fleet.size, 0);
  fleet.apply([worker(1, { state: 'gone', problem: 'it crashed' })]);
  assert.equal(fleet.root.tally.gone, 1);
});

test('a list is all there is, except for what is gone', () => {
  const fleet = new Fleet();
  fleet.replace([worker(1), worker(2), worker(3, { state: 'gone', problem: 'it crashed' })]);
  fleet.replace([worker(2)]);
  assert.deepEqual(shown(fleet).slice(2), ['    2 paused', '    3 gone']);
});

test('whoever leaves takes what was attached along', () => {
  const fleet = new Fleet();
  fleet.replace([worker(1), worker(2, { state: 'stopped' }), worker(3, { state: 'running' })]);
  fleet.leave();
  assert.deepEqual(shown(fleet).slice(2), ['    1 paused']);
});

test('a change says what the worker was before', () => {
  const fleet = new Fleet();
  fleet.replace([worker(1, { state: 'stopped' })]);
  const [change] = fleet.apply([worker(1, { state: 'gone', problem: 'it crashed' })]);
  assert.equal(change?.before?.state, 'stopped');
  assert.equal(change.worker.state, 'gone');
});

test('the beginning of a state is kept through other changes', () => {
  let now = 100_000;
  const fleet = new Fleet(() => now);
  fleet.replace([worker(1, { age: 30 })]);
  assert.equal(fleet.get('1')?.since, 70_000);
  now = 110_000;
  fleet.apply([worker(1, { age: 40, actorName: 'first' })]);
  assert.equal(fleet.get('1')?.since, 70_000);
});

/** A view of all rows; returns how many were described anew by the last look. */
function viewed(fleet: Fleet): () => { described: number; shown: number } {
  let described = 0;
  let shown = 0;
  const rows = new Rows((node) => {
    described += 1;
    return describe(node, 0);
  });
  const show = (node: Node): void => {
    shown += 1;
    rows.of(node);
    if (node instanceof Branch) {
      node.children.forEach(show);
    }
  };
  return () => {
    described = 0;
    shown = 0;
    const { nodes, roots } = fleet.takeChanges();
    rows.forget(nodes);
    roots.forEach(show);
    return { described, shown };
  };
}

function fiveHundred(): Fleet {
  const fleet = new Fleet();
  const actors = ['Trainer', 'Rollout', 'Learner', 'Reader'];
  fleet.replace(Array.from({ length: 500 }, (_, index) => worker(index + 1, { actor: actors[index % 4] ?? '' })));
  return fleet;
}

test('of 500 workers only the 24 that changed are described anew', () => {
  const fleet = fiveHundred();
  const look = viewed(fleet);
  // All workers, four classes, the job and the cluster.
  assert.deepEqual(look(), { described: 506, shown: 506 });
  fleet.apply(Array.from({ length: 24 }, (_, index) => worker(4 * index + 1, { state: 'stopped' })));
  assert.equal(look().described, 24 + 3);
  assert.deepEqual(look(), { described: 0, shown: 0 });
});

test('of 500 workers only the row is shown again where no count, name or order is different', () => {
  const fleet = fiveHundred();
  const look = viewed(fleet);
  look();
  fleet.apply(Array.from({ length: 24 }, (_, index) => worker(4 * index + 1, { actorName: `trainer ${index}` })));
  assert.deepEqual(look(), { described: 24, shown: 24 });
});

test('ages are told anew without the levels above', () => {
  const fleet = fiveHundred();
  const look = viewed(fleet);
  look();
  fleet.touchAges();
  assert.deepEqual(look(), { described: 500, shown: 500 });
});

test('what is told again without a difference moves nothing', () => {
  const fleet = fiveHundred();
  const look = viewed(fleet);
  look();
  const [job] = fleet.root.children as [Branch];
  const before = job.children;
  fleet.apply([worker(1, { actor: 'Trainer', age: 5 })]);
  assert.equal(job.children, before);
  assert.deepEqual(look(), { described: 1, shown: 1 });
});
