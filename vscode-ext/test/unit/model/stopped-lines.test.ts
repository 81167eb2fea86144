import assert from 'node:assert/strict';
import { test } from 'node:test';

import { StoppedLines } from '../../../src/model/stopped-lines';

class Session {
  changes = 0;
  readonly lines = new StoppedLines(() => {
    this.changes += 1;
  });

  ask(seq: number, threadId: number, more: object = { startFrame: 0, levels: 1 }): void {
    this.lines.sent({ type: 'request', seq, command: 'stackTrace', arguments: { threadId, ...more } });
  }

  answer(seq: number, line: number, difference: object = {}): void {
    const stackFrames = [
      { line, source: { path: '/train.py' } },
      { line: 1, source: { path: '/main.py' } },
    ];
    const body = { stackFrames };
    this.lines.received({
      type: 'response',
      command: 'stackTrace',
      success: true,
      request_seq: seq,
      body,
      ...difference,
    });
  }

  event(event: string, body: object): void {
    this.lines.received({ type: 'event', event, body });
  }

  line(threadId: number): number | undefined {
    return this.lines.get(threadId)?.line;
  }
}

test('the line of a thread is that of the top frame in the answer to stackTrace', () => {
  const session = new Session();
  session.ask(1, 7);
  session.ask(2, 8, {});
  assert.equal(session.changes, 0);
  session.answer(2, 16);
  session.answer(1, 15);
  assert.deepEqual(session.lines.get(7), { source: { path: '/train.py' }, line: 15 });
  assert.equal(session.line(8), 16);
  assert.equal(session.changes, 2);
});

test('later parts of a stack, failures and frames without a source do not change the line', () => {
  const session = new Session();
  session.ask(1, 7, { startFrame: 1, levels: 19 });
  session.answer(1, 15);
  session.ask(2, 7);
  session.answer(2, 15, { success: false });
  session.ask(3, 7);
  session.answer(3, 15, { body: { stackFrames: [{ line: 15 }] } });
  session.ask(4, 7);
  session.answer(4, 15, { body: { stackFrames: [] } });
  assert.equal(session.line(7), undefined);
  assert.equal(session.changes, 0);
});

test('a thread that continues, stops again or ends has no line', () => {
  const over = [
    ['continued', { threadId: 7, allThreadsContinued: false }],
    ['stopped', { threadId: 7, reason: 'step' }],
    ['thread', { threadId: 7, reason: 'exited' }],
  ] as const;
  for (const [event, body] of over) {
    const session = new Session();
    session.ask(1, 7);
    session.answer(1, 15);
    session.ask(2, 8);
    session.answer(2, 15);
    session.event('thread', { threadId: 7, reason: 'started' });
    assert.equal(session.line(7), 15);
    session.event(event, body);
    assert.equal(session.line(7), undefined, event);
    assert.equal(session.line(8), 15);
    assert.equal(session.changes, 3);
  }
});

test('an answer about a stop that is over is ignored', () => {
  const session = new Session();
  session.ask(1, 7);
  session.event('continued', { threadId: 7, allThreadsContinued: false });
  session.answer(1, 15);
  assert.equal(session.line(7), undefined);
});

test('a continued event applies to all threads unless it excludes them', () => {
  const session = new Session();
  session.ask(1, 7);
  session.answer(1, 15);
  session.event('continued', { threadId: 8 });
  assert.equal(session.line(7), undefined);
});
