import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { WorkerEntry } from '../../../src/protocol/messages';
import { lineLabel } from '../../../src/text/line-label';
import { worker } from '../example';

function actor(pid: number, title: string, difference: Partial<WorkerEntry> = {}): WorkerEntry {
  return worker(pid, { name: `${title} · train · 10.0.0.7`, title, label: `${title} · train`, ...difference });
}

test('a single worker at a line is named so that it differs from others of its class', () => {
  assert.equal(lineLabel([actor(4711, 'Trainer 2')]).text, 'Trainer 2');
  assert.equal(lineLabel([actor(4711, 'learner_0')]).text, 'learner_0');
  const unknown = worker('x', { actor: '', title: 'worker 10.0.0.7:5678', pid: 0 });
  assert.equal(lineLabel([unknown]).text, 'worker 10.0.0.7:5678');
});

test('several workers at a line are counted, and their class is named once', () => {
  assert.equal(lineLabel([actor(12, 'Trainer 12'), actor(9, 'Trainer 9')]).text, '2 workers: Trainer 9, 12');
  const ranks = [1, 0, 10].map((rank) => actor(rank, `RolloutWorker ${rank}`, { actor: 'RolloutWorker' }));
  assert.equal(lineLabel(ranks).text, '3 workers: RolloutWorker 0, 1, 10');
  assert.equal(lineLabel([actor(1, 'chief'), actor(2, 'helper')]).text, '2 workers: chief, helper');
});

test('the names of tasks, subprocesses and actors differ', () => {
  const task = worker(3, { actor: '', title: 'normalise 3', name: 'normalise · 3 · 10.0.0.7' });
  const child = worker(4, { type: 'child', title: 'child 4 of Trainer 1', name: 'child of Trainer 1 · 4 · a' });
  assert.equal(
    lineLabel([actor(1, 'Trainer 1'), task, child]).text,
    '3 workers: child 4 of Trainer 1, normalise 3, Trainer 1',
  );
});

test('the text names the first of many workers, the hover more of them', () => {
  const many = Array.from({ length: 500 }, (_, index) => actor(index + 1, `Trainer ${index + 1}`));
  const { text, hover } = lineLabel(many);
  assert.equal(text, '500 workers: Trainer 1, 2, 3, 4, …');
  assert.match(hover, /^Stopped here:\n\nTrainer 1 · train · 10\\\.0\\\.0\\\.7\n\n/);
  assert.match(hover, /\n\nTrainer 30 · [^\n]*\n\nand 470 more$/);
});
