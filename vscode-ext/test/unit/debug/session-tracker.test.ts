/** Tests: what is read from a session's messages, and which messages VS Code receives. */

import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { DebugAdapterTracker, DebugSession } from 'vscode';

import { SessionTrackerFactory } from '../../../src/debug/session-tracker';
import type { Problem } from '../../../src/model/problem';
import { failure } from '../example';

interface Fixture {
  readonly tracker: DebugAdapterTracker;
  readonly shown: Problem[];
  readonly checked: unknown[];
}

function track(more: object = {}): Fixture {
  const shown: Problem[] = [];
  const checked: unknown[] = [];
  const factory = new SessionTrackerFactory(
    { show: (problem) => shown.push(problem) },
    { check: (body, hub) => checked.push([body, hub]) },
  );
  const session = { configuration: { __hub: 'ws://a:1/dap' }, ...more } as unknown as DebugSession;
  return { tracker: factory.createDebugAdapterTracker(session), shown, checked };
}

function lost(code = 3003): { body: { category: string } } {
  const body = { category: 'important', output: 'It is gone.\n', data: { raydap: { code } } };
  return Object.assign({ type: 'event', event: 'output' }, { body });
}

test('the versions are compared once, by the session that raydap was started for', () => {
  const answer = { type: 'response', success: true, command: 'initialize', body: { raydap: {} } };
  const { tracker, checked } = track();
  tracker.onDidSendMessage?.(answer);
  tracker.onDidSendMessage?.({ type: 'response', success: true, command: 'threads' });
  assert.deepEqual(checked, [[answer.body, 'ws://a:1/dap']]);
  const child = track({ parentSession: {} });
  child.tracker.onDidSendMessage?.(answer);
  assert.deepEqual(child.checked, []);
});

test('a failed start is one message with its actions, and VS Code shows neither it nor later failures', () => {
  const { tracker, shown } = track();
  const failures = [failure(2001, 'No cluster.'), { ...failure(1003, 'Too early.'), command: 'threads' }];
  failures.forEach((each) => tracker.onDidSendMessage?.(each));
  assert.deepEqual(shown, [{ text: 'No cluster.', actions: ['changeDashboard', 'showLog'] }]);
  assert.deepEqual(
    failures.map(({ body }) => body?.error?.showUser),
    [false, false],
  );
});

test('VS Code itself shows a failed start for which there is no action', () => {
  const { tracker, shown } = track();
  const failed = failure(1004, 'The argument "job" is wrong.');
  tracker.onDidSendMessage?.(failed);
  assert.deepEqual(shown, []);
  assert.equal(failed.body?.error?.showUser, undefined);
});

test('the command shows the refusal of its own request, VS Code that of other requests', () => {
  const { tracker, shown } = track();
  const failures = ['raydap/compare', 'raydap/continue', 'evaluate', 'setBreakpoints'].map((command) => ({
    ...failure(1004, 'It is wrong.'),
    command,
  }));
  failures.forEach((each) => tracker.onDidSendMessage?.(each));
  assert.deepEqual(
    failures.map(({ body, message }) => [body?.error?.showUser, body?.error?.format, message]),
    [
      [false, 'It is wrong.', 'It is wrong.'],
      [false, 'It is wrong.', 'It is wrong.'],
      [undefined, 'It is wrong.', 'It is wrong.'],
      [undefined, 'It is wrong.', 'It is wrong.'],
    ],
  );
  assert.deepEqual(shown, []);
});

test('a notification of raydap becomes one whole message and a line of the console', () => {
  const { tracker, shown } = track();
  const message = lost();
  tracker.onDidSendMessage?.(message);
  assert.deepEqual(shown, [{ text: 'It is gone.', actions: ['showLog'] }]);
  assert.equal(message.body.category, 'console');
});

test('once the Ray view lists the workers, it alone reports lost ones; other problems remain messages', () => {
  const { tracker, shown } = track();
  const late = lost();
  tracker.onDidSendMessage?.({ type: 'response', success: true, command: 'raydap/workers' });
  tracker.onDidSendMessage?.(late);
  assert.deepEqual([late.body.category, shown], ['console', []]);
  tracker.onDidSendMessage?.(lost(2002));
  assert.equal(shown.length, 1);
});

test('a child session repeats no message of its parent', () => {
  const { tracker, shown } = track({ parentSession: {} });
  const message = lost();
  tracker.onDidSendMessage?.(message);
  assert.deepEqual([message.body.category, shown], ['console', []]);
});

test('a raydap that ends before it answers is a problem', () => {
  const { tracker, shown } = track();
  tracker.onExit?.(2, undefined);
  assert.equal(shown.length, 1);
  const answering = track();
  answering.tracker.onDidSendMessage?.({ type: 'event', event: 'output' });
  answering.tracker.onExit?.(2, undefined);
  assert.deepEqual(answering.shown, []);
});
