import assert from 'node:assert/strict';
import { test } from 'node:test';

import { findingRows, type Finding } from '../../../src/text/finding-rows';

function finding(severity: Finding['severity'], what: string, more: Partial<Finding> = {}): Finding {
  return { check: 'nodes', severity, what, why: '', what_to_do: '', subject: '', ...more };
}

test('the most severe findings come first, each with its reason and its fix; checks that passed share a row', () => {
  const rows = findingRows(
    [
      finding('ok', 'Good.'),
      finding('note', 'Odd.'),
      finding('skipped', 'Not checked.', { why: 'No node.' }),
      finding('error', 'Bad.', { why: 'It fails.', what_to_do: 'ray start --head' }),
      finding('ok', 'Fine.'),
    ],
    [],
  );
  assert.deepEqual(
    rows.map(({ label, icon, children, isCollapsed }) => [
      label,
      icon,
      children.map((each) => each.label),
      isCollapsed,
    ]),
    [
      ['Bad.', 'error', ['It fails.', 'ray start --head'], false],
      ['Odd.', 'info', [], true],
      ['Not checked.', 'circle-slash', [], false],
      ['2 checks found no problem', 'pass', ['Good.', 'Fine.'], true],
    ],
  );
  assert.equal(rows[0]?.tooltip, 'error: Bad.\n\nIt fails.\n\nray start --head');
  assert.equal(rows[2]?.description, 'No node.');
});

test('a fix is offered where it can be applied', () => {
  const places: readonly [string, string, string | undefined][] = [
    ['breakpoints', 'raydap run train.py', 'terminal'],
    ['breakpoints', '"workspaceFolder": "/app"', 'configuration'],
    ['token', 'export RAY_AUTH_MODE=token RAY_AUTH_TOKEN=TOKEN', 'token'],
    ['dashboard', 'raydap doctor --dashboard http://HOST:8265', 'address'],
    ['dashboard', 'ray start --head', 'terminal'],
    ['timeouts', 'asyncio.wait_for(..., None)', undefined],
    ['timeouts', 'RAY_CGRAPH_submit_timeout=3600 RAY_CGRAPH_get_timeout=3600', undefined],
  ];
  for (const [check, fix, place] of places) {
    const [row] = findingRows([finding('warning', 'Bad.', { check, what_to_do: fix })], []);
    assert.equal(row?.fixPlace, place, fix);
    assert.deepEqual([row?.context, row?.fix], [`raydap.finding.${place ?? 'copy'}`, fix]);
    assert.deepEqual([row?.children[0]?.context, row?.children[0]?.fix], [row?.context, fix]);
  }
  assert.equal(findingRows([finding('note', 'Odd.')], [])[0]?.context, 'raydap.finding');
});

test('a finding about a breakpoint leads to its line', () => {
  const breakpoints = [
    { path: '/app/steps.py', line: 5 },
    { path: '/app/train.py', line: 5 },
  ];
  const rows = findingRows(
    [finding('warning', 'Bad.', { subject: 'train.py:5' }), finding('note', 'Odd.', { subject: 'Trainer 5' })],
    breakpoints,
  );
  assert.deepEqual(
    rows.map(({ frame }) => frame),
    [breakpoints[1], null],
  );
});
