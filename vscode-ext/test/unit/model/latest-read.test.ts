import assert from 'node:assert/strict';
import { test } from 'node:test';

import { LatestRead } from '../../../src/model/timers';
import { settled } from '../fake-source';

interface Fixture {
  readonly read: LatestRead<string>;
  /** The reads that have begun, oldest first. */
  readonly pending: { resolve: (answer: string) => void; reject: (error: Error) => void }[];
  readonly taken: string[];
  readonly fire: () => Promise<void>;
}

function fixture(): Fixture {
  const pending: Fixture['pending'] = [];
  const taken: string[] = [];
  let due: (() => void) | undefined;
  const timers = {
    set: (run: () => void) => (due = run),
    clear: () => {
      due = undefined;
    },
  };
  const read = new LatestRead<string>(
    () => new Promise((resolve, reject) => void pending.push({ resolve, reject })),
    (answer) => taken.push(answer),
    500,
    timers,
  );
  const fire = async (): Promise<void> => {
    const run = due;
    due = undefined;
    run?.();
    await settled();
  };
  return { read, pending, taken, fire };
}

test('reads do not overlap: calls during a read cause one more read after it', async () => {
  const { read, pending, taken, fire } = fixture();
  read.call();
  await fire();
  read.call();
  read.call();
  await fire();
  assert.equal(pending.length, 1);
  pending[0]?.resolve('first');
  await settled();
  await fire();
  assert.equal(pending.length, 2);
  pending[1]?.resolve('second');
  await settled();
  await fire();
  assert.deepEqual([taken, pending.length], [['first', 'second'], 2]);
});

test('an old answer does not overwrite a newer one', async () => {
  const { read, pending, taken, fire } = fixture();
  read.call();
  await fire();
  const restarted = read.restart();
  pending[1]?.resolve('new');
  await restarted;
  pending[0]?.resolve('old');
  await settled();
  assert.deepEqual(taken, ['new']);
});

test('after a failed read the next call reads again', async () => {
  const { read, pending, taken, fire } = fixture();
  read.call();
  await fire();
  read.call();
  pending[0]?.reject(new Error('It failed.'));
  await settled();
  await fire();
  pending[1]?.resolve('second');
  await settled();
  assert.deepEqual(taken, ['second']);
});

test('the answer of a disposed read is dropped', async () => {
  const { read, pending, taken, fire } = fixture();
  read.call();
  await fire();
  read.dispose();
  pending[0]?.resolve('late');
  await settled();
  assert.deepEqual(taken, []);
});
