import assert from 'node:assert/strict';
import { test } from 'node:test';

import { compare, type Result } from '../../src/bridge/comparison';
import { page } from '../../src/bridge/page';

function values(...texts: string[]): Result[] {
  return texts.map((value, threadId) => ({ threadId, name: `Trainer.train · ${threadId}`, value, type: 'float' }));
}

function kinds(results: Result[]): string[] {
  return compare('loss', results).lines.map(({ kind }) => kind);
}

test('what most have is usual, what few have is different', () => {
  assert.deepEqual(kinds(values('0.5', 'nan', '0.5')), ['usual', 'different', 'usual']);
  assert.equal(compare('loss', values('0.5', 'nan', '0.5')).summary, '2 × 0.5, 1 × nan');
});

test('a value that all have is usual', () => {
  assert.deepEqual(kinds(values('0.5', '0.5')), ['usual', 'usual']);
  assert.deepEqual(kinds(values('0.5')), ['usual']);
});

test('where no value is more frequent than the others, all are different', () => {
  assert.deepEqual(kinds(values('0', '1')), ['different', 'different']);
  assert.deepEqual(kinds(values('0', '1', '1', '0')), Array(4).fill('different'));
});

test('errors are told beside values', () => {
  const failed = { threadId: 9, name: 'Learner.update · 9', error: "NameError: name 'loss' is not defined" };
  const { lines, summary } = compare('loss', [...values('0.5'), failed]);
  assert.deepEqual(lines[1], { name: failed.name, text: failed.error, type: '', kind: 'error' });
  assert.equal(summary, '1 × 0.5, 1 error');
  assert.equal(compare('loss', [failed, failed]).summary, '2 errors');
});

test('the summary stays one line', () => {
  const { summary } = compare('x', values(...Array.from({ length: 500 }, (_, index) => `tensor([${index},\n   0])`)));
  assert.match(summary, /^(1 × tensor\(\[\d, 0\]\), ){6}494 more values$/);
  assert.equal(compare('x', values('y'.repeat(100))).summary.length, '1 × '.length + 40);
  assert.equal(compare('x', []).summary, 'No worker is stopped.');
});

test('nothing of a value is taken for HTML', () => {
  const text = page(compare('<b>&"\'', values('<script>alert(1)</script>')), 'abc');
  assert.ok(!text.includes('<script'));
  assert.ok(!text.includes('<b>'));
  assert.ok(text.includes('&#60;script&#62;'));
});

test('the page allows its own style and nothing else', () => {
  const text = page(compare('x', values('1')), 'abc');
  assert.ok(text.includes(`content="default-src 'none'; style-src 'nonce-abc'"`));
  assert.ok(text.includes('<style nonce="abc">'));
});
