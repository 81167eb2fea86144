import assert from 'node:assert/strict';
import { test } from 'node:test';

import { countsText, emptyTally, sumOf, waitingCount } from '../../../src/model/tally';

test('states without a worker are left out', () => {
  assert.equal(countsText({ ...emptyTally(), stopped: 3, running: 12, gone: 1, alive: 30 }), '3 stopped, 12 running');
  assert.equal(countsText(emptyTally()), '');
});

test('tallies are added up, and waiting workers are counted', () => {
  const one = { ...emptyTally(), stopped: 1, running: 2 };
  const sum = sumOf([one, { ...emptyTally(), stopped: 1, attaching: 1, paused: 3, gone: 1, alive: 4 }]);
  assert.deepEqual(sum, { ...emptyTally(), stopped: 2, attaching: 1, paused: 3, running: 2, gone: 1, alive: 4 });
  assert.equal(waitingCount(sum), 6);
});
