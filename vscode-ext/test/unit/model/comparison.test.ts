import assert from 'node:assert/strict';
import { test } from 'node:test';

import { compare } from '../../../src/model/comparison';
import type { Evaluation } from '../../../src/protocol/messages';
import { evaluations } from '../example';

function kinds(results: Evaluation[]): string[] {
  return compare('loss', results).lines.map(({ kind }) => kind);
}

test('what most have is usual, what few have is different', () => {
  assert.deepEqual(kinds(evaluations('0.5', 'nan', '0.5')), ['usual', 'different', 'usual']);
  assert.equal(compare('loss', evaluations('0.5', 'nan', '0.5')).summary, '2 × 0.5, 1 × nan');
});

test('a value that all have is usual', () => {
  assert.deepEqual(kinds(evaluations('0.5', '0.5')), ['usual', 'usual']);
  assert.deepEqual(kinds(evaluations('0.5')), ['usual']);
});

test('where no value is more frequent than the others, all are different', () => {
  assert.deepEqual(kinds(evaluations('0', '1')), ['different', 'different']);
  assert.deepEqual(kinds(evaluations('0', '1', '1', '0')), Array(4).fill('different'));
});

test('errors are told beside values', () => {
  const failed = {
    threadId: 9,
    name: 'Learner.update · 9',
    label: 'Learner.update',
    error: "NameError: name 'loss' is not defined",
  };
  const { lines, summary } = compare('loss', [...evaluations('0.5'), failed]);
  assert.deepEqual(lines[1], { name: failed.name, text: failed.error, type: '', kind: 'error' });
  assert.equal(summary, '1 × 0.5, 1 error');
  assert.equal(compare('loss', [failed, failed]).summary, '2 errors');
});

test('the summary stays one line', () => {
  const { summary } = compare(
    'x',
    evaluations(...Array.from({ length: 500 }, (_, index) => `tensor([${index},\n   0])`)),
  );
  assert.match(summary, /^(1 × tensor\(\[\d, 0\]\), ){6}494 more values$/);
  assert.equal(compare('x', evaluations('y'.repeat(100))).summary.length, '1 × '.length + 40);
  assert.equal(compare('x', []).summary, 'No worker is stopped.');
});
