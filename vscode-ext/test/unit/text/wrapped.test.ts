import assert from 'node:assert/strict';
import { test } from 'node:test';

import { wrapped } from '../../../src/text/wrapped';

test('a text is broken between words, and none of it is lost', () => {
  const text = 'http://127.0.0.1:8265 answers, but it is no Ray dashboard: look up its URL. [raydap 2003]';
  assert.deepEqual(wrapped(text), [
    'http://127.0.0.1:8265 answers, but',
    'it is no Ray dashboard: look up its',
    'URL. [raydap 2003]',
  ]);
  assert.equal(wrapped(text).join(' '), text);
});

test('the number of an error and a long word stay in one piece', () => {
  assert.deepEqual(wrapped('It is. [raydap 2003]', 16), ['It is.', '[raydap 2003]']);
  assert.deepEqual(wrapped('/a/very/long/path is missing', 10), ['/a/very/long/path', 'is missing']);
  assert.deepEqual(wrapped(''), []);
});
