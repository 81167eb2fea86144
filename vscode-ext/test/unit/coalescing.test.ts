import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Coalescing } from '../../src/bridge/coalescing';

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
