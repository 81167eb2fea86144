/** Tests: all parts of the window leave out the workers that the filter hides. */

import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';

import type { TreeView } from 'vscode';

import type { StoppedLinesTracker } from '../../../src/debug/stopped-lines-tracker';
import { ClusterFilter } from '../../../src/views/cluster-filter';
import type { DebugSessions } from '../../../src/views/debug-sessions';
import type { EvaluationPanel } from '../../../src/views/evaluation-panel';
import { Indicators } from '../../../src/views/indicators';
import { lensCommands } from '../../../src/views/lens-commands';
import { LineDecorations } from '../../../src/views/line-decorations';
import { StackTree } from '../../../src/views/stack-tree';
import { thread, worker } from '../example';
import { begin, FakeSession, focus } from '../fake-sessions';
import { settled } from '../fake-source';
import { EventEmitter, resetVscode, seen, window } from '../fake-vscode';

const WORKERS = [11, 12].map((id) => worker(id, { state: 'stopped', threads: [thread(id)] }));

/** Start a session whose filter shows worker 11 of 11 and 12. */
async function filtered(): Promise<{ session: FakeSession; sessions: DebugSessions; filter: ClusterFilter }> {
  const empty = { root: { children: [] }, missing: [], silent: [], unread: [] };
  const answers = { 'raydap/select': () => ({ workers: ['11'] }), 'raydap/stacks': () => empty };
  const session = new FakeSession('one', WORKERS, undefined, undefined, answers);
  const sessions = await begin(session);
  const filter = new ClusterFilter(sessions.registry);
  await filter.set('rank:0');
  session.asked.length = 0;
  return { session, sessions, filter };
}

beforeEach(resetVscode);

test('the badge and the status bar count the shown workers, and an icon shows that there is a filter', async () => {
  const { sessions, filter } = await filtered();
  const view: { badge?: unknown } = {};
  const indicators = new Indicators(view as unknown as TreeView<unknown>, filter);
  const { statusBar } = indicators as unknown as { statusBar: { text: string } };
  indicators.update(sessions.registry.all);
  assert.deepEqual([view.badge, statusBar.text], [{ value: 1, tooltip: '1 stopped' }, 'Ray: 1 stopped $(filter)']);
  await filter.set('');
  indicators.update(sessions.registry.all);
  assert.deepEqual([view.badge, statusBar.text], [{ value: 2, tooltip: '2 stopped' }, 'Ray: 2 stopped']);
});

test('the Stacks view reads the stacks of the shown workers, and reads again when the filter changes', async () => {
  const { session, sessions, filter } = await filtered();
  const tree = new StackTree(sessions, filter);
  focus(session, 11);
  tree.changed();
  await settled();
  await filter.set('');
  await settled();
  assert.deepEqual(session.asked, [
    'raydap/stacks {"running":false,"maxMembers":100000,"select":"rank:0"}',
    'raydap/stacks {"running":false,"maxMembers":100000}',
  ]);
  tree.dispose();
});

test('the commands above functions leave out hidden workers, and a message says so if all are hidden', async () => {
  const { session, sessions, filter } = await filtered();
  const commands = lensCommands(sessions, {} as unknown as EvaluationPanel, filter);
  const run = async (name: string, stopped: object): Promise<void> => {
    await commands[name]?.(...([stopped] as never[]));
  };
  await run('continueStopped', { 11: [11], 12: [12] });
  await run('stepStopped', { 11: [11], 12: [12] });
  await run('continueStopped', { 12: [12] });
  assert.deepEqual(session.asked, [
    'raydap/continue {"threads":[11]}',
    'raydap/step {"threadId":11,"command":"next","timeout":5,"select":"rank:0"}',
  ]);
  assert.equal(seen[0], 'status: Ray: 1 worker continued; 1 hidden by the filter was left out');
  assert.match(seen.at(-1) ?? '', /^information: The filter hides these workers/);
});

test('a line names the shown workers that are stopped there', async () => {
  const { session, sessions, filter } = await filtered();
  const lines = new Map([11, 12].map((id) => [id, { source: { path: '/a.py' }, line: 1 }]));
  const tracker = { all: [{ session, lines }], onDidChange: new EventEmitter().event };
  const decorations = new LineDecorations(sessions, tracker as unknown as StoppedLinesTracker, filter);
  const set: { hoverMessage: { value: string } }[] = [];
  const document = { uri: '/a.py', lineCount: 1, lineAt: () => ({ range: { end: {} } }) };
  window.visibleTextEditors = [{ document, setDecorations: (_: unknown, all: typeof set) => set.push(...all) }];
  (decorations as unknown as { show(): void }).show();
  assert.deepEqual(
    set.map(({ hoverMessage }) => hoverMessage.value.match(/(?<=train · )\d+/g)),
    [['11']],
  );
  decorations.dispose();
});
