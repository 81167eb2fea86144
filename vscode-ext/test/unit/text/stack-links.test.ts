import assert from 'node:assert/strict';
import { test } from 'node:test';

import { stackLinks } from '../../../src/text/stack-links';

const TEXT = `Trainer 4711 · 10.0.0.7

Thread MainThread: blocked in ray.get (train.py:41)
  File "/home/me/a "b", line 2, in c/train.py", line 41, in step
    path = '/not/a/place", line 3, in it'
  File "C:\\app\\main.py", line 7, in <module>
  File "<string>", line 1, in <module>
`;

test('each frame with a file is a link to its line', () => {
  const links = stackLinks(TEXT);
  assert.deepEqual(
    links.map(({ path, line }) => [path, line]),
    [
      ['/home/me/a "b", line 2, in c/train.py', 41],
      ['C:\\app\\main.py', 7],
    ],
  );
  assert.deepEqual(
    links.map(({ start, end }) => TEXT.slice(start, end)),
    ['/home/me/a "b", line 2, in c/train.py", line 41', 'C:\\app\\main.py", line 7'],
  );
});
