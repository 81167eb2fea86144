import assert from 'node:assert/strict';
import { test } from 'node:test';

import { steppedMessage } from '../../../src/text/stepped-message';

const group = (label: string, members: number[], line: number) => ({
  label,
  members,
  frame: { name: 'train', path: 'C:\\app/train.py', line },
});

test('the message names the workers that reached another line, and the line', () => {
  const groups = [group('Trainer 3', [13], 50), group('Trainer{0-2}', [10, 11, 12], 43)];
  assert.equal(
    steppedMessage({ threads: [10, 11, 12, 13], groups, running: [] }),
    '1 of 4 threads reached another line: Trainer 3 at train.py:50.',
  );
});

test('the message counts the workers that still run', () => {
  const groups = [{ ...group('prepare', [11], 1), frame: null }, group('Trainer 0', [10], 43)];
  assert.equal(
    steppedMessage({ threads: [10, 11, 12], groups, running: [12] }),
    '1 of 3 threads reached another line: prepare in library code. 1 of 3 threads have not reached a line yet.',
  );
});

test('there is no message if all workers reached one line', () => {
  assert.equal(steppedMessage({ threads: [10], groups: [group('Trainer', [10], 43)], running: [] }), undefined);
  assert.equal(steppedMessage({ threads: [] }), undefined);
});
