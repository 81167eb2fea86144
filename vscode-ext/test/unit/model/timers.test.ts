import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Debounce, Throttle } from '../../../src/model/timers';

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

test('many calls within the interval cause one run, a later call another one', () => {
  const timers = clock();
  let runs = 0;
  const throttle = new Throttle(() => (runs += 1), 250, timers);
  for (let call = 0; call < 100; call++) {
    throttle.call();
  }
  assert.equal(runs, 0);
  timers.fire();
  assert.equal(runs, 1);
  throttle.call();
  timers.fire();
  assert.equal(runs, 2);
});

test('the delay can be different for each run', () => {
  const timers = clock();
  const times: number[] = [];
  let next = 100;
  const throttle = new Throttle(
    () => undefined,
    () => next,
    {
      ...timers,
      set: (run, milliseconds) => {
        times.push(milliseconds);
        return timers.set(run, milliseconds);
      },
    },
  );
  throttle.call();
  next = 1000;
  throttle.call();
  timers.fire();
  throttle.call();
  assert.deepEqual(times, [100, 1000]);
});

test('a disposed timer does not run', () => {
  const timers = clock();
  let runs = 0;
  const throttle = new Throttle(() => (runs += 1), 250, timers);
  throttle.call();
  throttle.dispose();
  timers.fire();
  assert.equal(runs, 0);
});

test('a debounced function runs once after the last call', () => {
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
  const debounce = new Debounce(() => (runs += 1), 1500, timers);
  debounce.call();
  debounce.call();
  debounce.call();
  assert.deepEqual([...pending.keys()], [3]);
  pending.get(3)?.();
  assert.equal(runs, 1);
  debounce.call();
  debounce.dispose();
  assert.deepEqual([...pending.keys()], [3]);
});
