import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { MergedStacks, StackNode } from '../../../src/protocol/messages';
import { stackRows, type StackRow } from '../../../src/text/stack-rows';

function node(place: string, members: number[], children: StackNode[] = [], running: string[] = []): StackNode {
  const [name = '', line = ''] = place.split(':');
  const frame = place === '' ? null : { name, path: '/app/train.py', line: Number(line) };
  const count = members.length + running.length;
  return {
    frame,
    count,
    members,
    running,
    label: members.length === 1 ? `Trainer ${members[0]}` : `Trainer{${members.join(',')}}`,
    children,
  };
}

function merged(root: StackNode, more: Partial<MergedStacks> = {}): MergedStacks {
  return { root, missing: [], silent: [], unread: [], ...more };
}

function texts(rows: readonly StackRow[]): unknown[] {
  return rows.map(({ label, description, children }) => [label, description, ...texts(children)]);
}

test('frames that all threads share are one row, and a row has a child for each branch', () => {
  const few = node('save:9', [3]);
  const most = node('step:7', [1, 2], [node('loss:8', [1, 2])]);
  const rows = stackRows(
    merged(node('', [1, 2, 3], [node('main:1', [1, 2, 3], [node('train:5', [1, 2, 3], [few, most])])])),
  );
  assert.deepEqual(texts(rows), [
    [
      'train (train.py:5)',
      '3 · Trainer{1,2,3}',
      ['save (train.py:9)', '1 · Trainer 3'],
      ['loss (train.py:8)', '2 · Trainer{1,2}'],
    ],
  ]);
  assert.equal(rows[0]?.tooltip, 'train (train.py:5)\nmain (train.py:1)\n\n3: Trainer{1,2,3}');
  assert.deepEqual(rows[0].children[1]?.members, [1, 2]);
});

test('a stack that ends above a branch has a row', () => {
  const rows = stackRows(merged(node('', [1, 2], [node('train:5', [1, 2], [node('step:7', [2])])])));
  assert.deepEqual(texts(rows), [['train (train.py:5)', '2 · Trainer{1,2}', ['step (train.py:7)', '1 · Trainer 2']]]);
});

test('missing workers come first, and unreadable stacks last', () => {
  const missing = {
    frame: { name: 'step', path: 'C:\\app\\train.py', line: 7 },
    count: 2,
    of: 3,
    members: [3],
    running: [],
    label: 'Trainer 3',
  };
  const rows = stackRows(
    merged(node('', [1], [node('step:7', [1])]), { missing: [missing], silent: [4], unread: ['w'] }),
  );
  assert.deepEqual(texts(rows), [
    ['Trainer 3 missing in step (train.py:7)', '2 of 3 workers are there'],
    ['step (train.py:7)', '1 · Trainer 1'],
    ['2 stacks cannot be read', ''],
  ]);
  assert.deepEqual(
    rows.map(({ icon, context }) => [icon, context]),
    [
      ['warning', 'raydap.stack.stopped'],
      ['debug-stackframe', 'raydap.stack.stopped'],
      ['question', 'raydap.stack.stopped'],
    ],
  );
});

test('rows of running workers lack the actions of stopped ones', () => {
  const [row] = stackRows(merged(node('', [], [node('step:7', [], [], ['w1'])], ['w1'])));
  assert.deepEqual([row?.icon, row?.context], ['play', 'raydap.stack.running']);
});

test('each row has an id of its own', () => {
  const tree = node('', [1, 2], [node('a:1', [1], [node('b:2', [1])]), node('b:2', [2])]);
  const ids = stackRows(merged(tree)).map(({ id }) => id);
  assert.equal(new Set(ids).size, 2);
});
