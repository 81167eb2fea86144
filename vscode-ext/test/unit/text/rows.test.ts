import assert from 'node:assert/strict';
import { test } from 'node:test';

import { GroupNode, WorkerTree } from '../../../src/model/worker-tree';
import type { WorkerEntry } from '../../../src/protocol/messages';
import { durationText, escaped, rowOf, type Row } from '../../../src/text/rows';
import { thread, worker } from '../example';

const NOW = 1_000_000;

function rowOfWorker(entry: WorkerEntry): Row {
  const tree = new WorkerTree(() => NOW);
  tree.replace([entry]);
  const node = tree.get(entry.key);
  assert.ok(node !== undefined);
  return rowOf(node, NOW);
}

test('the row of a worker has its task as label, and its time, process and node as description', () => {
  const row = rowOfWorker(worker(4711, { age: 150 }));
  assert.equal(row.label, 'Trainer 4711 · train');
  assert.equal(row.description, '2 min · 4711 · 10.0.0.7');
  assert.equal(row.context, 'raydap.worker.paused');
});

test('the label and the place of a row do not come from the name', () => {
  const row = rowOfWorker(worker(1, { name: 'a · b', label: 'Odd · name', where: '1 · node' }));
  assert.equal(row.label, 'Odd · name');
  assert.equal(row.description, '1 · node');
  assert.match(row.tooltip, /^\*\*Odd · name\*\*/);
});

test('a running worker has no duration', () => {
  assert.equal(rowOfWorker(worker(4711, { age: 150, state: 'running' })).description, '4711 · 10.0.0.7');
});

test('an unattached worker has a grey icon, and can be attached if it has an agent', () => {
  const row = rowOfWorker(worker(4711, { age: 150, state: 'alive' }));
  assert.equal(row.description, '4711 · 10.0.0.7');
  assert.equal(row.color, 'disabledForeground');
  assert.equal(row.context, 'raydap.worker.alive');
  assert.equal(rowOfWorker(worker(1, { state: 'alive', agent: true })).context, 'raydap.worker.alive.agent');
  assert.equal(rowOfWorker(worker(1, { state: 'running', agent: true })).context, 'raydap.worker.running');
  assert.equal(rowOfWorker(worker(1, { state: 'alive', problem: 'Another one debugs it.' })).icon, 'warning');
});

test('the description begins with the type of the error', () => {
  const entry = worker(4711, { state: 'stopped', threads: [thread(1, { error: 'ZeroDivisionError' })] });
  const row = rowOfWorker(entry);
  assert.equal(row.description, 'ZeroDivisionError · 4711 · 10.0.0.7');
  assert.equal(row.icon, 'error');
  assert.match(row.tooltip, /Stopped by: ZeroDivisionError/);
});

test('several stopped threads are counted', () => {
  const entry = worker(4711, { state: 'stopped', threads: [thread(1), thread(2)] });
  assert.equal(rowOfWorker(entry).description, '2 threads · 4711 · 10.0.0.7');
});

test('a worker without a known process is described by its address', () => {
  const row = rowOfWorker(worker('x', { label: 'worker', where: '127.0.0.1:5678', pid: 0, node: '' }));
  assert.equal(row.label, 'worker');
  assert.equal(row.description, '127.0.0.1:5678');
});

test('a problem is part of the tooltip', () => {
  const row = rowOfWorker(worker(1, { problem: 'It does not answer in time.' }));
  assert.equal(row.icon, 'warning');
  assert.match(row.tooltip, /It does not answer in time/);
});

test('the row of a group counts its workers by state, and its context names the actions', () => {
  const tree = new WorkerTree();
  tree.replace([
    worker(1),
    worker(2, { state: 'stopped' }),
    worker(3, { state: 'running' }),
    worker(4, { job: '02000000' }),
  ]);
  const [job] = tree.root.children as [GroupNode];
  const row = rowOf(job, 0);
  assert.equal(row.label, 'job 01000000');
  assert.equal(row.description, '1 stopped, 1 paused, 1 running');
  assert.equal(row.context, 'raydap.job.continue.attach.pause.detach');
});

/** Return the labels and descriptions of all groups, from the top. */
function groupRows(tree: WorkerTree): string[] {
  const below = (group: GroupNode): GroupNode[] =>
    group.children.filter((node) => node instanceof GroupNode).flatMap((node) => [node, ...below(node)]);
  return below(tree.root).map((group) => {
    const { label, description } = rowOf(group, 0);
    return `${label}: ${description}`;
  });
}

test('the row of a group does not repeat the counts of the row above', () => {
  const tree = new WorkerTree();
  tree.replace([worker(1), worker(2)]);
  assert.deepEqual(groupRows(tree), ['job 01000000: ', 'Trainer: ']);
  tree.apply([worker(3, { actor: 'Reader' })]);
  assert.deepEqual(groupRows(tree), ['job 01000000: ', 'Reader: 1 paused', 'Trainer: 2 paused']);
  tree.apply([worker(4, { job: '02000000' })]);
  assert.deepEqual(groupRows(tree).slice(-2), ['job 02000000: 1 paused', 'Trainer: ']);
});

test('the topmost group counts gone workers if there are no others, because the cluster does not', () => {
  const tree = new WorkerTree();
  tree.replace([worker(1, { state: 'gone', problem: 'Killed.' })]);
  assert.deepEqual(groupRows(tree), ['job 01000000: 1 gone', 'Trainer: ']);
});

test('unattached workers are counted where there are no others', () => {
  const tree = new WorkerTree();
  tree.replace([worker(1, { state: 'alive' }), worker(2, { state: 'alive', job: '', actor: '', task: '' })]);
  assert.deepEqual(groupRows(tree), ['job 01000000: 1 alive', 'Trainer: ', 'idle workers: 1 alive']);
  tree.apply([worker(3)]);
  assert.deepEqual(groupRows(tree), ['job 01000000: ', 'Trainer: ', 'idle workers: 1 alive']);
});

test('durations are short', () => {
  const cases: [number, string][] = [
    [3, ''],
    [47, '40 s'],
    [60, '1 min'],
    [3_599, '59 min'],
    [7_200, '2 h'],
    [200_000, '2 d'],
  ];
  for (const [seconds, text] of cases) {
    assert.equal(durationText(seconds), text);
  }
});

test('Markdown characters in names are escaped', () => {
  assert.equal(escaped('<lambda>_[x](y)'), '\\<lambda\\>\\_\\[x\\]\\(y\\)');
});

test('the text for screen readers contains the state, which the row shows by an icon only', () => {
  const tree = new WorkerTree();
  tree.replace([worker(1, { state: 'stopped', threads: [thread(1)] })]);
  const node = tree.get('1');
  assert.ok(node !== undefined);
  assert.equal(rowOf(node, 0).spoken, 'Trainer 1 · train, Stopped, 1 · 10.0.0.7');
});
