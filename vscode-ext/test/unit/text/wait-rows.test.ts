import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { WaitGraph, WaitNode } from '../../../src/protocol/messages';
import { waitRows, type WaitRow } from '../../../src/text/wait-rows';

function node(label: string, text: string, more: Partial<WaitNode> = {}): WaitNode {
  const location = { name: 'train', path: '/app/train.py', line: 14 };
  return {
    worker: 'w',
    label,
    state: 'blocked',
    text,
    location,
    task: '',
    waits: [],
    needed: 0,
    stuck: false,
    ...more,
  };
}

function graph(more: Partial<WaitGraph> = {}): WaitGraph {
  const rest = { nodes: [], roots: [], deadlocks: [], collectives: [], unread: [], idle: 0, problem: '', text: '' };
  return { ...rest, lines: [], ...more };
}

function texts(rows: readonly WaitRow[]): unknown[] {
  return rows.map(({ label, description, icon, children }) => [label, description, icon, ...texts(children)]);
}

test('the tree has a row for each line, and a click leads to the line of its first worker', () => {
  const rows = waitRows(
    graph({
      nodes: [
        node('driver train.py', 'blocked in ray.get (train.py:42)'),
        node('Trainer', ''),
        node('CPU', '', { state: 'resource', location: null }),
      ],
      lines: [
        { depth: 0, text: 'driver train.py (pid 7 on 10.0.0.7): blocked in ray.get (train.py:42)', nodes: [0] },
        { depth: 1, text: 'Trainer{0-2} · train: blocked in ray.get (train.py:14)  [deadlock]', nodes: [1] },
        { depth: 2, text: 'held by CPU: used up', nodes: [2] },
        { depth: 1, text: '...', nodes: [] },
        { depth: 0, text: 'worker 9 (on 10.0.0.8): idle', nodes: [] },
      ],
      deadlocks: [{ cycle: [1], nodes: [1], certain: true, text: '' }],
      idle: 2,
      unread: ['w9'],
      problem: 'the dashboard does not answer',
    }),
  );
  assert.deepEqual(texts(rows.slice(1)), [
    [
      'driver train.py',
      'blocked in ray.get (train.py:42)',
      'watch',
      [
        'Trainer{0-2} · train',
        'blocked in ray.get (train.py:14)  [deadlock]',
        'error',
        ['held by CPU', 'used up', 'server'],
      ],
      ['...', '', 'ellipsis'],
    ],
    ['worker 9', 'idle', 'ellipsis'],
    ['2 idle', '', 'info'],
    ['1 could not be read', '', 'info'],
    ["Ray's list of waiting tasks is not available: the dashboard does not answer", '', 'info'],
  ]);
  assert.deepEqual(rows[1]?.frame, { name: 'train', path: '/app/train.py', line: 14 });
  assert.match(rows[1].tooltip, /pid 7 on 10\.0\.0\.7/);
});

test('deadlocks come first, then the workers that are missing in a collective operation', () => {
  const nodes = [node('A · m', 'blocked in ray.get (a.py:5)'), node('B · n', 'blocked in ray.get (a.py:7)')];
  const deadlock = { cycle: [0, 1], nodes: [0, 1], certain: true, text: '  A · m\n  -> B · n' };
  const collective = {
    library: 'torch.distributed',
    function: 'all_reduce',
    nodes: [0],
    missing: [1],
    text: 'missing: B',
  };
  const rows = waitRows(
    graph({
      nodes,
      deadlocks: [deadlock, { ...deadlock, certain: false }],
      collectives: [collective, { ...collective, missing: [] }],
      lines: [{ depth: 0, text: 'A · m: blocked', nodes: [0] }],
    }),
  );
  assert.deepEqual(
    rows.map(({ label }) => label),
    ['Deadlock 1', 'Probably a deadlock 2', 'missing: B', 'A · m'],
  );
  const members = [
    ['A · m', 'blocked in ray.get (a.py:5)', 'watch'],
    ['B · n', 'blocked in ray.get (a.py:7)', 'watch'],
  ];
  assert.deepEqual(texts(rows[0]?.children ?? []), members);
  assert.deepEqual(texts(rows[2]?.children ?? []), [members[1]]);
  assert.match(rows[0]?.tooltip ?? '', /-> B · n/);
});

test('equal lines have different ids: VS Code refuses two rows with one id', () => {
  const line = { depth: 0, text: 'sum: pending', nodes: [] };
  const ids = waitRows(graph({ lines: [line, line, line] })).map(({ id }) => id);
  assert.equal(new Set(ids).size, 3);
});
