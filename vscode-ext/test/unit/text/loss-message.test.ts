import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { Change } from '../../../src/model/worker-tree';
import { lossMessage } from '../../../src/text/loss-message';
import { worker } from '../example';

function lost(pid: number, problem: string): Change {
  return { before: undefined, worker: worker(pid, { label: `Trainer ${pid} · train`, state: 'gone', problem }) };
}

test('the message about one lost worker contains its name and the reason', () => {
  const text = 'The stopped worker 7 on a is gone (killed). The other workers are not affected.';
  assert.equal(lossMessage([lost(7, text)]), `Trainer 7 · train: ${text}`);
});

test('the message about many lost workers contains the reason of the first and names some others', () => {
  const [first, ...others] = [1, 2, 3, 4, 5].map((pid) =>
    lost(pid, `The stopped worker ${pid} is gone (killed). The other workers are not affected.`),
  ) as [Change, ...Change[]];
  assert.equal(
    lossMessage([first, ...others]),
    'Trainer 1 · train: The stopped worker 1 is gone (killed). Also gone: Trainer 2 · train, Trainer 3 · train, ' +
      'Trainer 4 · train and 1 more.',
  );
  assert.equal(
    lossMessage([lost(9, 'The running worker 9 is gone (out of memory).'), first]),
    'Trainer 9 · train: The running worker 9 is gone (out of memory). Also gone: Trainer 1 · train.',
  );
});
