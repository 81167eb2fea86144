import assert from 'node:assert/strict';
import { test } from 'node:test';

import { demoteToConsole, hideFromUser, isFailedStart, isResponseTo } from '../../../src/protocol/dap';
import { failure } from '../example';

test('only a failure of a request that starts a session is a failed start', () => {
  assert.ok(isFailedStart(failure(2001, '')));
  assert.ok(!isFailedStart({ ...failure(2001, ''), command: 'evaluate' }));
  assert.ok(!isFailedStart({ ...failure(2001, ''), success: true }));
  assert.ok(!isFailedStart({ type: 'event', event: 'output' }));
});

test('a hidden failure keeps its text and number', () => {
  const failed = failure(2002, 'The dashboard cannot be reached. [raydap 2002]');
  hideFromUser(failed);
  assert.deepEqual(failed.body?.error, {
    id: 2002,
    format: 'The dashboard cannot be reached. [raydap 2002]',
    showUser: false,
  });
});

test('a hidden failure of configurationDone becomes a success, because VS Code would show it anyway', () => {
  const failed = { ...failure(1003, 'Too early.'), command: 'configurationDone' };
  hideFromUser(failed);
  assert.ok(failed.success);
});

test('a successful answer is recognized by its command', () => {
  const list = { type: 'response', command: 'raydap/workers', success: true };
  assert.ok(isResponseTo('raydap/workers', list));
  assert.ok(!isResponseTo('raydap/workers', { ...list, success: false }));
  assert.ok(!isResponseTo('raydap/workers', { ...list, command: 'threads' }));
  assert.ok(!isResponseTo('raydap/workers', { type: 'event', event: 'raydap/workersChanged' }));
});

test('a notification becomes a line of the console, and its text and number are returned', () => {
  const demoted = (data: unknown): unknown => {
    const message = { type: 'event', event: 'output', body: { category: 'important', output: 'It is gone.\n', data } };
    const told = demoteToConsole(message);
    assert.equal(message.body.category, 'console');
    return told;
  };
  assert.deepEqual(demoted({ raydap: { code: 3003 } }), { text: 'It is gone.', code: 3003 });
  for (const data of [undefined, null, {}, { raydap: {} }, 'text']) {
    assert.deepEqual(demoted(data), { text: 'It is gone.', code: 0 });
  }
});

test('other output is not changed', () => {
  const stderr = { event: 'output', body: { category: 'stderr', data: { raydap: { code: 3003 } } } };
  assert.equal(demoteToConsole(stderr), undefined);
  assert.equal(stderr.body.category, 'stderr');
  assert.equal(demoteToConsole({ event: 'output' }), undefined);
});
