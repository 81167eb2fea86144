import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Fleet, type Branch, type Change } from '../../src/bridge/fleet';
import { describe, duration, escaped, obituary, type Row } from '../../src/bridge/words';
import { counted, noTally, type Worker } from '../../src/bridge/worker';
import { thread, worker } from './example';

const NOW = 1_000_000;

function rowOf(told: Worker): Row {
  const fleet = new Fleet(() => NOW);
  fleet.replace([told]);
  const leaf = fleet.get(told.key);
  assert.ok(leaf !== undefined);
  return describe(leaf, NOW);
}

test('a worker is called by its task, and described by time, process and node', () => {
  const row = rowOf(worker(4711, { age: 150 }));
  assert.equal(row.label, 'Trainer.train');
  assert.equal(row.description, '2 min · 4711 · 10.0.0.7');
  assert.equal(row.context, 'raydap.worker.paused');
});

test('how long one runs is of no interest', () => {
  assert.equal(rowOf(worker(4711, { age: 150, state: 'running' })).description, '4711 · 10.0.0.7');
});

test('the type of an error comes first', () => {
  const told = worker(4711, { state: 'stopped', threads: [thread(1, { error: 'ZeroDivisionError' })] });
  const row = rowOf(told);
  assert.equal(row.description, 'ZeroDivisionError · 4711 · 10.0.0.7');
  assert.equal(row.icon, 'error');
  assert.match(row.tooltip, /Stopped by: ZeroDivisionError/);
});

test('several stopped threads are told', () => {
  const told = worker(4711, { state: 'stopped', threads: [thread(1), thread(2)] });
  assert.equal(rowOf(told).description, '2 threads · 4711 · 10.0.0.7');
});

test('a worker without a process is known by its port', () => {
  const row = rowOf(worker('x', { name: 'worker · 127.0.0.1:5678', pid: 0, node: '' }));
  assert.equal(row.label, 'worker');
  assert.equal(row.description, '127.0.0.1:5678');
});

test('a problem is part of the tooltip', () => {
  const row = rowOf(worker(1, { problem: 'It does not answer in time.' }));
  assert.equal(row.icon, 'warning');
  assert.match(row.tooltip, /It does not answer in time/);
});

test('a level says how many of its workers do what, and what can be done', () => {
  const fleet = new Fleet();
  fleet.replace([worker(1), worker(2, { state: 'stopped' }), worker(3, { state: 'running' })]);
  const [job] = fleet.root.children as [Branch];
  const row = describe(job, 0);
  assert.equal(row.label, 'job 01000000');
  assert.equal(row.description, '1 stopped, 1 paused, 1 running');
  assert.equal(row.context, 'raydap.job.continue.attach');
});

test('zero parts are left out', () => {
  assert.equal(counted({ ...noTally(), stopped: 3, running: 12, gone: 1 }), '3 stopped, 12 running');
  assert.equal(counted(noTally()), '');
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
    assert.equal(duration(seconds), text);
  }
});

test('names are no Markdown', () => {
  assert.equal(escaped('<lambda>_[x](y)'), '\\<lambda\\>\\_\\[x\\]\\(y\\)');
});

function lost(pid: number, problem: string, before?: Worker['state']): Change {
  return {
    before: before && worker(pid, { state: before }),
    worker: worker(pid, { state: 'gone', problem }),
  };
}

test('of one lost worker the reason is told', () => {
  const text = 'The stopped worker 7 on a is gone (killed); the other workers go on.';
  assert.equal(obituary([lost(7, text, 'stopped')]), `Trainer.train: ${text}`);
  const crashed = lost(7, 'Its memory ran out. Look at the logs. See also the manual.');
  assert.equal(obituary([crashed]), 'Trainer.train · 7 · 10.0.0.7 is gone: Its memory ran out.');
});

test('of many lost workers some are named', () => {
  const many = [1, 2, 3, 4, 5].map((pid) => lost(pid, 'Killed.', 'stopped'));
  const named = [1, 2, 3].map((pid) => `Trainer.train · ${pid} · 10.0.0.7`).join(', ');
  assert.equal(obituary(many), `5 stopped workers are lost: ${named} and 2 more.`);
  assert.match(obituary([...many.slice(0, 1), lost(9, 'Crashed.')]), /^2 workers are lost: .* · 9 · 10\.0\.0\.7\.$/);
});
