import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Coalescing, Settling } from '../../src/bridge/coalescing';

function clock(): { fire: () => void; set: (run: () => void, milliseconds: number) => number; clear: () => void } {
  let due: (() => void) | undefined;
  return {
    fire: () => due?.(),
    set: (run, milliseconds) => {
      due = run;
      return milliseconds;
    },
    clear: () => {
      due = undefined;
    },
  };
}

test('many calls become one, and the next call another', () => {
  const timers = clock();
  let runs = 0;
  const coalescing = new Coalescing(() => (runs += 1), 250, timers);
  for (let call = 0; call < 100; call++) {
    coalescing.call();
  }
  assert.equal(runs, 0);
  timers.fire();
  assert.equal(runs, 1);
  coalescing.call();
  timers.fire();
  assert.equal(runs, 2);
});

test('nothing runs after it was disposed of', () => {
  const timers = clock();
  let runs = 0;
  const coalescing = new Coalescing(() => (runs += 1), 250, timers);
  coalescing.call();
  coalescing.dispose();
  timers.fire();
  assert.equal(runs, 0);
});

test('what comes in a row is over when nothing more comes', () => {
  const pending = new Map<number, () => void>();
  let runs = 0;
  let calls = 0;
  const timers = {
    set: (run: () => void): number => {
      pending.set(++calls, run);
      return calls;
    },
    clear: (timer: unknown) => void pending.delete(timer as number),
  };
  const settling = new Settling(() => (runs += 1), 1500, timers);
  settling.call();
  settling.call();
  settling.call();
  assert.deepEqual([...pending.keys()], [3]);
  pending.get(3)?.();
  assert.equal(runs, 1);
  settling.call();
  settling.dispose();
  assert.deepEqual([...pending.keys()], [3]);
});
