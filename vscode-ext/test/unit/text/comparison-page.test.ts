import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { Comparison, ComparisonGroup } from '../../../src/protocol/messages';
import { comparisonPage, summaryOf, type Compared } from '../../../src/text/comparison-page';

let members = 0;

/** Return a group of `count` threads that all have this value. */
function group(count: number, value: string, more: Partial<ComparisonGroup> = {}): ComparisonGroup {
  const ids = Array.from({ length: count }, () => (members += 1));
  return {
    members: ids,
    label: ids.length === 1 ? `Trainer ${ids[0]}` : `Trainer{${ids.join(',')}}`,
    value,
    type: 'float',
    partial: false,
    ...more,
  };
}

function failed(count: number, error: string): ComparisonGroup {
  const { members: ids, label, partial } = group(count, '');
  return { members: ids, label, error, partial };
}

function comparison(...groups: ComparisonGroup[]): Comparison {
  return { groups, silent: [] };
}

function shown(answer: Comparison, more: Partial<Compared> = {}): string {
  return comparisonPage(
    { expression: 'loss', select: '', kept: false, since: false, live: true, answer, ...more },
    'abc',
    'vscode:x',
  );
}

function kinds(...groups: ComparisonGroup[]): string[] {
  return [...shown(comparison(...groups)).matchAll(/<tr class="(\w+)">/g)].map(([, kind]) => kind ?? '');
}

test('a value is never interpreted as HTML', () => {
  const text = shown(comparison(group(1, '<script>alert(1)</script>', { label: '<i>', difference: '<u>' })), {
    expression: '<b>&"\'',
    select: '"><b>',
    problem: '<em>',
  });
  assert.equal([...text.matchAll(/<script/g)].length, 1);
  assert.ok(!/<[biu]>|<em>/.test(text));
  assert.ok(text.includes('&#60;script&#62;'));
});

test('the page permits only its own style and script', () => {
  const text = shown(comparison(group(1, '1')));
  assert.ok(text.includes(`content="default-src 'none'; style-src 'nonce-abc'; script-src 'nonce-abc'"`));
  assert.ok(text.includes('<script nonce="abc" src="vscode:x">'));
});

test('the most frequent value is marked as usual, others as different', () => {
  assert.deepEqual(kinds(group(1, 'nan'), group(2, '0.5')), ['different', 'usual']);
  assert.deepEqual(kinds(group(1, '0.5')), ['usual']);
  assert.deepEqual(kinds(group(2, '0'), group(2, '1')), ['different', 'different']);
  assert.deepEqual(kinds(failed(1, 'NameError'), group(2, '1')), ['error', 'usual']);
  assert.deepEqual(kinds(group(1, '1'), failed(5, 'NameError')), ['usual', 'error']);
});

test('the summary counts values, the most frequent first', () => {
  assert.equal(summaryOf(comparison(group(1, 'nan'), group(23, '0.5'))), '23 × 0.5, 1 × nan');
  assert.equal(summaryOf(comparison(failed(2, 'x'), failed(1, 'y'), group(3, '1'))), '3 × 1, 3 errors');
  assert.equal(summaryOf(comparison(group(1, `a\n${'b'.repeat(50)}`))), `1 × a ${'b'.repeat(37)}…`);
  const many = Array.from({ length: 8 }, (_, index) => group(1, String(index)));
  assert.match(summaryOf(comparison(...many)), /2 more values$/);
  assert.equal(summaryOf(comparison()), 'None of these workers is stopped.');
  assert.equal(summaryOf({ groups: [], silent: [7] }), 'No worker answered in time.');
});

test('numbers have statistics, a histogram, and the workers with the lowest and highest value', () => {
  const text = shown({
    ...comparison(group(1, '0.5'), group(2, '2')),
    statistics: { min: 0.5, max: 2, mean: 1.4999999, std: null, nan: 1, inf: 0 },
    histogram: {
      low: 0.5,
      high: 2,
      counts: [1, 0, 2],
      lowest: { members: [7], label: 'Trainer 0' },
      highest: { members: [8, 9], label: 'Trainer{1-2}' },
    },
    silent: [3],
  });
  assert.ok(text.includes('min 0.5, max 2, mean 1.5, 1 nan'));
  assert.equal([...text.matchAll(/<rect/g)].length, 3);
  assert.ok(/lowest 0.5: <button[^>]*data-thread="7"[^>]*>Trainer 0</.test(text));
  assert.ok(text.includes('1 thread did not answer in time.'));
});

test('a comparison with kept values names the workers that have changed', () => {
  const none = { members: [], label: '' };
  const change = { changed: { members: [1, 2], label: 'Trainer{0-1}' }, unchanged: none, unknown: none };
  const text = shown({ ...comparison(group(2, '1')), change }, { kept: true, since: true });
  assert.ok(text.includes('<td>changed</td><td class="count">2</td>'));
  assert.ok(!text.includes('unchanged'));
  assert.ok(text.includes('name="since" checked'));
});

test('a problem is shown instead of values', () => {
  const text = comparisonPage(
    { expression: 'x', select: 'actr:Foo', kept: false, since: false, live: true, problem: 'The set is wrong.' },
    'abc',
    'vscode:x',
  );
  assert.ok(text.includes('<p class="problem" role="alert">The set is wrong.</p>'));
  assert.ok(!text.includes('<table'));
});

test('a large array has a small histogram, which states its bins', () => {
  const numbers = { min: 0, max: 2, mean: 1, std: 0.5, nan: 0, inf: 0, sampled: 1, hash: 'a' };
  const array = { shape: [9000], dtype: 'float32', device: 'cpu', ...numbers };
  const histogram = { low: 0, high: 2, counts: [1000, 3000] };
  const text = shown(
    comparison(group(2, 'float32[9000]', { array: { ...array, histogram } }), group(1, 'x', { array })),
  );
  assert.equal([...text.matchAll(/<svg class="histogram"/g)].length, 1);
  assert.ok(text.includes('2 bins from 0 to 2, 4000 elements counted'));
  assert.deepEqual(
    [...text.matchAll(/<rect[^>]* height="(\d+)"/g)].map(([, height]) => height),
    ['10', '30'],
  );
});
