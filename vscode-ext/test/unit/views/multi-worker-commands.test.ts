/** Tests: the session, threads and workers that the commands for many workers act on. */

import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';

import { StepRequests } from '../../../src/debug/step-requests';
import type { WorkerEntry } from '../../../src/protocol/messages';
import { CommandTargets } from '../../../src/views/command-target';
import type { DebugSessions } from '../../../src/views/debug-sessions';
import type { EvaluationPanel } from '../../../src/views/evaluation-panel';
import { multiWorkerCommands } from '../../../src/views/multi-worker-commands';
import { rowCommands } from '../../../src/views/row-commands';
import type { StackDocuments } from '../../../src/views/stack-documents';
import type { Element } from '../../../src/views/tree-elements';
import { WorkerActions } from '../../../src/views/worker-actions';
import { thread, worker } from '../example';
import { begin, FakeSession, focus } from '../fake-sessions';
import { settled } from '../fake-source';
import { answers, cancellation, EventEmitter, resetVscode, seen, settings } from '../fake-vscode';

function stopped(id: number, actor: string): WorkerEntry {
  return worker(id, { actor, state: 'stopped', threads: [thread(id)] });
}

const WORKERS = [stopped(11, 'Trainer'), stopped(12, 'Trainer'), stopped(13, 'Rollout'), stopped(14, 'Rollout')];

/** Return the second argument of a command in the menu of the call stack. */
function context({ id }: FakeSession, threadId?: number): object {
  return threadId === undefined ? { sessionId: id } : { sessionId: id, threadId: `thread:${id}:${threadId}` };
}

interface Fixture {
  readonly run: (name: string, ...args: unknown[]) => Promise<void>;
  readonly select: (...rows: Element[]) => void;
  readonly evaluated: unknown[];
}

function commandsOf(
  sessions: DebugSessions,
  hidden: readonly string[] = [],
  steps: Pick<StepRequests, 'cancel'> = new StepRequests(),
): Fixture {
  const selections = new EventEmitter();
  const view = { selection: [] as Element[], visible: true, onDidChangeSelection: selections.event };
  const evaluated: unknown[] = [];
  const panel = { expression: '', show: (...words: unknown[]) => evaluated.push(words) };
  const filter = {
    shows: (_: unknown, node: object) => !('worker' in node && hidden.includes((node.worker as WorkerEntry).key)),
    selectOf: () => (hidden.length === 0 ? undefined : 'rank:0'),
  };
  const targets = new CommandTargets(sessions, view);
  const commands = {
    ...multiWorkerCommands(targets, panel as unknown as EvaluationPanel, filter, steps),
    ...rowCommands(sessions, {} as unknown as StackDocuments, new WorkerActions(targets, filter)),
  };
  return {
    run: async (name, ...args) => {
      await commands[name]?.(...(args as never[]));
    },
    select: (...rows) => {
      view.selection = rows;
      selections.fire({ selection: rows });
    },
    evaluated,
  };
}

function rowOf(sessions: DebugSessions, key: number): Element {
  const row = sessions.registry.all[0]?.tree.get(String(key));
  assert.ok(row !== undefined);
  return row.parent;
}

beforeEach(() => {
  resetVscode();
  settings.confirmCommands = false;
});

test('a command of the call stack acts on the thread of its row, not on the focused one', async () => {
  const session = new FakeSession('one', WORKERS);
  const { run } = commandsOf(await begin(session));
  focus(session, 11);
  await run('continueGroup', 13, context(session, 13));
  await run('stepTogether', 13, context(session, 13));
  assert.deepEqual(session.asked, [
    'raydap/continue {"threads":[13,14]}',
    'raydap/step {"threadId":13,"command":"next","timeout":5}',
  ]);
  assert.deepEqual(seen, ['status: Ray: 2 workers continued', 'status: Ray: 4 workers stepped']);
});

test('with two sessions a command acts on the session of its row', async () => {
  const [one, other] = [new FakeSession('one', WORKERS), new FakeSession('other', WORKERS)];
  const { run, evaluated } = commandsOf(await begin(one, other));
  focus(one, 11);
  await run('continueAll', 'other', context(other));
  await run('continueAll', 13, context(other, 13));
  await run('showAtBarriers', 13, context(other, 13));
  assert.deepEqual(one.asked, []);
  assert.deepEqual(other.asked, [
    'raydap/continue {}',
    'raydap/continue {}',
    'raydap/barriers {}',
    'raydap/barriers {"action":"show"}',
  ]);
  answers.push('loss');
  await run('evaluateAll', 13, context(other, 13));
  assert.equal(evaluated.length, 1);
});

test('a second session of a cluster gets its own requests, with its own threads', async () => {
  const same = { request: 'attach', dashboard: 'http://a' };
  const one = new FakeSession('one', WORKERS, same);
  const second = new FakeSession('second', [stopped(21, 'Trainer'), stopped(23, 'Rollout')], same);
  const sessions = await begin(one, second);
  await sessions.registry.add('http://a');
  const { run } = commandsOf(sessions);
  await run('continueGroup', 23, context(second, 23));
  await run('continueAll', 'second', context(second));
  assert.deepEqual(second.asked, ['raydap/continue {"threads":[23]}', 'raydap/continue {}']);
  assert.deepEqual(one.asked, []);
  assert.equal(sessions.registry.all.length, 1);
  await run('continueAll', 11, { sessionId: 'gone', threadId: 'thread:gone:11' });
  assert.deepEqual(one.asked, []);
  assert.equal(seen.at(-1), 'information: No raydap session is running. Start one with F5.');
});

test('a later choice in the call stack takes precedence over a selection in the Ray view', async () => {
  const session = new FakeSession('one', WORKERS);
  const sessions = await begin(session);
  const { run, select } = commandsOf(sessions);
  focus(session, 11);
  select(rowOf(sessions, 13));
  focus(session, 12);
  await run('continueGroup');
  select(rowOf(sessions, 13));
  await run('continueGroup');
  assert.deepEqual(session.asked, ['raydap/continue {"threads":[11,12]}', 'raydap/continue {"threads":[13,14]}']);
});

test('a step of the focused thread does not replace a later selection in the Ray view', async () => {
  const session = new FakeSession('one', WORKERS);
  const sessions = await begin(session);
  const { run, select } = commandsOf(sessions);
  focus(session, 11);
  select(rowOf(sessions, 13));
  focus(session, 11);
  await run('continueGroup');
  assert.deepEqual(session.asked, ['raydap/continue {"threads":[13,14]}']);
});

test('a selected row of another cluster determines the session, too', async () => {
  const [one, other] = [new FakeSession('one', WORKERS), new FakeSession('other', WORKERS)];
  const sessions = await begin(one, other);
  const { run, select } = commandsOf(sessions);
  focus(other, 12);
  select(rowOf(sessions, 13));
  await run('continueGroup');
  assert.deepEqual([one.asked, other.asked], [['raydap/continue {"threads":[13,14]}'], []]);
});

test('with a child session per worker, commands use the thread of the child session', async () => {
  const parent = new FakeSession('one', WORKERS);
  const child = new FakeSession('child', [], { __raydap: { worker: '13' } }, parent);
  const { run } = commandsOf(await begin(parent, child));
  focus(child, 13);
  await run('stepTogether');
  await run('continueGroup');
  await run('continueGroup', 'child', context(child));
  assert.deepEqual(child.asked, []);
  assert.deepEqual(parent.asked, [
    'raydap/step {"threadId":13,"command":"next","timeout":5}',
    'raydap/continue {"threads":[13,14]}',
    'raydap/continue {"threads":[13,14]}',
  ]);
});

test('a command on the row of a child session acts on its worker, not on the focused one', async () => {
  const parent = new FakeSession('one', WORKERS);
  const [first, second] = ['11', '13'].map(
    (key) => new FakeSession(`child ${key}`, [], { __raydap: { worker: key } }, parent),
  ) as [FakeSession, FakeSession];
  const { run } = commandsOf(await begin(parent, first, second));
  focus(first, 11);
  await run('stepTogether', second.id, context(second));
  assert.deepEqual(parent.asked, ['raydap/step {"threadId":13,"command":"next","timeout":5}']);
});

test('a command on the row of a session acts on its only thread; with several threads it asks for a worker', async () => {
  const single = new FakeSession('single', [stopped(13, 'Rollout'), worker(14, { state: 'running' })]);
  const several = new FakeSession('several', WORKERS);
  const other = new FakeSession('other', WORKERS);
  const { run } = commandsOf(await begin(single, several, other));
  focus(other, 11);
  await run('stepTogether', 'single', context(single));
  await run('stepTogether', 'several', context(several));
  assert.deepEqual(single.asked, ['raydap/step {"threadId":13,"command":"next","timeout":5}']);
  assert.deepEqual([several.asked, other.asked], [[], []]);
  assert.match(seen.at(-1) ?? '', /^information: Select a worker/);
});

test('a lost row is reported, and no other session is used instead', async () => {
  const session = new FakeSession('one', WORKERS);
  const { run } = commandsOf(await begin(session));
  focus(session, 11);
  await run('continueAll', undefined, undefined);
  assert.deepEqual(session.asked, []);
  assert.match(seen[0] ?? '', /redrawing the row/);
});

test('hidden workers stay stopped when a row is continued, and the message names their number', async () => {
  const session = new FakeSession('one', WORKERS);
  const sessions = await begin(session);
  const { run } = commandsOf(sessions, ['12', '13']);
  await run('continueAll', sessions.registry.all[0]);
  await run('continueGroup', rowOf(sessions, 11));
  assert.deepEqual(session.asked, ['raydap/continue {"threads":[11,14]}', 'raydap/continue {"threads":[11]}']);
  assert.deepEqual(seen, [
    'status: Ray: 2 workers continued; 2 hidden by the filter were left out',
    'status: Ray: 1 worker continued; 1 hidden by the filter was left out',
  ]);
});

test('if another debugger has the focus, the user chooses among several sessions', async () => {
  const [one, other] = [new FakeSession('one', WORKERS), new FakeSession('other', WORKERS)];
  const { run } = commandsOf(await begin(one, other));
  answers.push((items: readonly object[]) => items[1]);
  await run('continueAll');
  assert.deepEqual([one.asked, other.asked], [[], ['raydap/continue {}']]);
});

test('Step All Until They Part shows a notification whose button cancels the request', async () => {
  let refuse: (error: Error) => void = () => undefined;
  const step = (): Promise<never> => new Promise((_, reject) => (refuse = reject));
  const session = new FakeSession('one', WORKERS, undefined, undefined, { 'raydap/step': step });
  const cancelled: string[] = [];
  const steps = {
    cancel: (id: string) => {
      cancelled.push(id);
      refuse(new Error('cancelled'));
      return Promise.resolve();
    },
  };
  const { run } = commandsOf(await begin(session), [], steps);
  focus(session, 11);
  const running = run('stepApart');
  await settled();
  cancellation.fire(undefined);
  await running;
  assert.deepEqual(cancelled, ['one']);
  assert.deepEqual(seen, ['progress: Stepping the workers until they reach different lines']);
  const failing = run('stepApart');
  await settled();
  refuse(new Error('It runs.'));
  await assert.rejects(failing, /It runs/);
});

test('before a command acts on several workers of the selection or the focus, it shows how many they are', async () => {
  settings.confirmCommands = true;
  const session = new FakeSession('one', WORKERS);
  const sessions = await begin(session);
  const { run, select } = commandsOf(sessions);
  let shown: unknown;
  const confirm = (items: readonly object[]): unknown => (shown = items[0]);
  focus(session, 11);
  await run('continueGroup');
  assert.deepEqual([session.asked, seen], [[], ['pick: Continue']]);
  answers.push(confirm);
  await run('continueGroup', 13, context(session, 13));
  assert.deepEqual(shown, { label: 'Continue 2 Rollouts', description: 'Trainer 13, Trainer 14', detail: '' });
  answers.push(confirm);
  select(...sessions.registry.all);
  await run('detachWorkers');
  assert.equal((shown as { label: string }).label, 'Detach 4 workers');
  assert.deepEqual(session.asked, [
    'raydap/continue {"threads":[13,14]}',
    'raydap/detach {"workers":["11","12","13","14"]}',
  ]);
});

test('a command asks nothing on rows that contain its workers, and nothing for a single worker', async () => {
  settings.confirmCommands = true;
  const session = new FakeSession('one', WORKERS);
  const sessions = await begin(session);
  const { run } = commandsOf(sessions);
  await run('continueGroup', rowOf(sessions, 11));
  await run('continueWorkers', sessions.registry.all[0]);
  focus(session, 12);
  await run('continueWorkers');
  await run('continueWorkers', 13, context(session, 13));
  assert.deepEqual(session.asked, [
    'raydap/continue {"threads":[11,12]}',
    'raydap/continue {"threads":[11,12,13,14]}',
    'raydap/continue {"threads":[12]}',
    'raydap/continue {"threads":[13]}',
  ]);
  assert.deepEqual(
    seen.filter((each) => each.startsWith('pick')),
    [],
  );
});

test('commands of the toolbar and the call stack do not touch the workers that the filter hides', async () => {
  settings.confirmCommands = true;
  const session = new FakeSession('one', WORKERS);
  const { run, evaluated } = commandsOf(await begin(session), ['12', '13']);
  focus(session, 11);
  await run('continueAll');
  assert.deepEqual([session.asked, seen], [[], ['pick: Continue']]);
  answers.push((items: readonly object[]) => items[0]);
  await run('continueAll');
  await run('continueGroup', 12, context(session, 12));
  await run('stepTogether');
  await run('stepTogether', 13, context(session, 13));
  assert.match(seen.at(-1) ?? '', /^information: The filter hides Trainer 13, so the command did nothing/);
  assert.deepEqual(session.asked, [
    'raydap/continue {"threads":[11,14]}',
    'raydap/continue {"threads":[11]}',
    'raydap/step {"threadId":11,"command":"next","timeout":5,"select":"rank:0"}',
  ]);
  answers.push('loss');
  await run('evaluateAll');
  assert.deepEqual((evaluated[0] as unknown[]).slice(1), ['loss', { select: 'rank:0' }]);
});

test('barriers with hidden workers are neither shown nor released', async () => {
  const session = new FakeSession('one', [worker(11, { state: 'held' }), worker(12, { state: 'held' })]);
  const { run } = commandsOf(await begin(session), ['12']);
  await run('releaseAtBarriers');
  assert.deepEqual(session.asked, []);
  assert.match(seen[0] ?? '', /The filter hides 1 of the 2 workers at barriers/);
});

test('without a selected row and a focused thread, the user chooses the group to continue', async () => {
  const session = new FakeSession('one', WORKERS);
  const { run } = commandsOf(await begin(session), ['12', '13']);
  await run('continueGroup');
  assert.deepEqual([session.asked, seen], [[], ['pick: Continue Group']]);
  answers.push((items: readonly { label: string; description: string }[]) => {
    assert.deepEqual(
      items.map(({ description }) => description),
      ['Continue 1 Trainer', 'Continue 1 Rollout'],
    );
    return items.find(({ label }) => label === 'Rollout');
  });
  await run('continueGroup');
  assert.deepEqual(session.asked, ['raydap/continue {"threads":[14]}']);
  await run('continueWorkers');
  assert.match(seen.at(-1) ?? '', /^information: Select a worker/);
});

test('a group is continued without a question if only one worker is stopped', async () => {
  const session = new FakeSession('one', [stopped(11, 'Trainer'), worker(12, { state: 'running' })]);
  const { run } = commandsOf(await begin(session));
  await run('continueGroup');
  assert.deepEqual([session.asked, seen], [['raydap/continue {"threads":[11]}'], []]);
});
