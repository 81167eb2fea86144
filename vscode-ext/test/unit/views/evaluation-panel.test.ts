import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';

import type { Uri } from 'vscode';

import { EvaluationPanel } from '../../../src/views/evaluation-panel';
import { settled } from '../fake-source';
import { contexts, debug, Uri as FakeUri, panels, resetVscode } from '../fake-vscode';

/** A requester whose comparisons wait until the test calls `answer`. */
class Requester {
  readonly id = 'one';
  readonly pending: ((answer: object) => void)[] = [];

  request(): Promise<never> {
    return new Promise((resolve) => void this.pending.push(resolve as (answer: object) => void));
  }

  async answer(index: number, value: string): Promise<void> {
    this.pending[index]?.({ groups: [{ members: [1], label: 'T', value, type: 'int' }], silent: [] });
    await settled();
  }
}

function panel(): EvaluationPanel {
  return new EvaluationPanel(FakeUri.file('/extension') as unknown as Uri);
}

beforeEach(resetVscode);

test('a slow comparison does not overwrite a later one', async () => {
  const requester = new Requester();
  const shown = panel();
  void shown.show(requester, 'slow');
  void shown.show(requester, 'quick');
  await requester.answer(1, '22');
  await requester.answer(0, '11');
  const [page] = panels;
  assert.equal(page?.title, 'quick');
  assert.match(page.webview.html, /22/);
  assert.doesNotMatch(page.webview.html, />11</);
  assert.equal(panels.length, 1);
});

test('values are marked as old when a worker of their session moves, and not before', async () => {
  const requester = new Requester();
  const shown = panel();
  void shown.show(requester, 'loss');
  await requester.answer(0, '1');
  const [page] = panels;
  assert.ok(page !== undefined);
  assert.match(page.webview.html, /class="moved" role="status" hidden/);
  shown.workersMoved('another', false);
  assert.deepEqual(page.webview.posted, []);
  shown.workersMoved('one', false);
  shown.workersMoved('one', false);
  assert.deepEqual(page.webview.posted, [{ kind: 'moved' }]);
  void shown.evaluateAgain();
  await requester.answer(1, '2');
  assert.match(page.webview.html, /class="moved" role="status" hidden/);
});

test('values are old from the beginning if a worker has moved while they were read, or while the page is hidden', async () => {
  const requester = new Requester();
  const shown = panel();
  void shown.show(requester, 'loss');
  shown.workersMoved('one', false);
  await requester.answer(0, '1');
  const [page] = panels;
  assert.ok(page !== undefined);
  assert.match(page.webview.html, /class="moved" role="status">/);
  void shown.evaluateAgain();
  await requester.answer(1, '2');
  page.visible = false;
  shown.workersMoved('one', false);
  assert.match(page.webview.html, /class="moved" role="status">/);
});

test('Evaluate Again is enabled while the comparison is open, wherever the focus is', async () => {
  const requester = new Requester();
  void panel().show(requester, 'loss');
  await requester.answer(0, '1');
  assert.equal(contexts['raydap.comparing'], true);
  panels[0]?.disposed.fire(undefined);
  assert.equal(contexts['raydap.comparing'], false);
});

test('a later comparison replaces the values in the page and not the page, so that focus and sorting stay', async () => {
  const requester = new Requester();
  const shown = panel();
  void shown.show(requester, 'loss');
  await requester.answer(0, '11');
  const [page] = panels;
  const before = page?.webview.html;
  void shown.evaluateAgain();
  await requester.answer(1, '22');
  assert.equal(page?.webview.html, before);
  const [message] = page?.webview.posted as [{ kind: string; results: string; kept: boolean }];
  assert.deepEqual([message.kind, message.kept], ['compared', false]);
  assert.match(message.results, /22/);
  // VS Code loads a hidden page again from its HTML.
  if (page !== undefined) {
    page.visible = false;
    page.viewState.fire(undefined);
  }
  assert.match(page?.webview.html ?? '', /22/);
});

test('after a stop the values are read once more, also if many workers stop, and not while the page is hidden', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout', 'Date'] });
  const requester = new Requester();
  const shown = panel();
  void shown.show(requester, 'loss');
  await requester.answer(0, '1');
  for (let stop = 0; stop < 500; stop++) {
    shown.workersMoved('one', true);
  }
  assert.equal(requester.pending.length, 1);
  context.mock.timers.tick(300);
  assert.equal(requester.pending.length, 2);
  // A slow comparison makes the next one wait as long.
  context.mock.timers.tick(5000);
  await requester.answer(1, '2');
  shown.workersMoved('one', true);
  context.mock.timers.tick(4999);
  assert.equal(requester.pending.length, 2);
  context.mock.timers.tick(1);
  assert.equal(requester.pending.length, 3);
  await requester.answer(2, '3');
  const [page] = panels;
  assert.ok(page !== undefined);
  page.visible = false;
  shown.workersMoved('one', true);
  context.mock.timers.tick(60_000);
  assert.equal(requester.pending.length, 3);
  page.visible = true;
  page.viewState.fire(undefined);
  assert.equal(requester.pending.length, 4);
  // The user closes the page while a refresh waits for its answer.
  page.disposed.fire(undefined);
  await requester.answer(3, '4');
  assert.equal(panels.length, 1);
});

test('without "refresh at stops" the values are only marked as old', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const requester = new Requester();
  const shown = panel();
  void shown.show(requester, 'loss');
  await requester.answer(0, '1');
  const [page] = panels;
  page?.messages.fire({ kind: 'compare', expression: 'loss', select: '', keep: false, since: false, live: false });
  await requester.answer(1, '2');
  shown.workersMoved('one', true);
  context.mock.timers.tick(60_000);
  assert.equal(requester.pending.length, 2);
  assert.deepEqual(page?.webview.posted.at(-1), { kind: 'moved' });
});

test('its fields are completed by the session and by the workers', async () => {
  const asked: unknown[] = [];
  const requester = {
    id: 'one',
    request: (name: string, args: object): Promise<never> => {
      asked.push([name, args]);
      const answer = name === 'completions' ? { targets: [{ label: 'item' }, { label: 'x', text: 'itself' }] } : {};
      return Promise.resolve({ groups: [], silent: [], ...answer } as never);
    },
  };
  await panel().show(requester, 'loss');
  debug.activeStackItem = { session: { id: 'one' }, frameId: 7 };
  const [page] = panels;
  assert.ok(page !== undefined);
  const complete = async (field: string, text: string): Promise<unknown> => {
    page.messages.fire({ kind: 'complete', field, text });
    await settled();
    return page.webview.posted.at(-1);
  };
  const kind = 'completions';
  const [field, text] = ['expression', 'loss.it'];
  assert.deepEqual(await complete(field, text), { kind, field, text, options: ['loss.item', 'loss.itself'] });
  assert.deepEqual(asked.at(-1), ['completions', { frameId: 7, text, column: 8 }]);
  const set = { kind, field: 'select', text: 'ran', options: ['rank:'] };
  assert.deepEqual(await complete('select', 'ran'), set);
  const where = { kind, field: 'select', text: 'where i', options: ['where item', 'where itself'] };
  assert.deepEqual(await complete('select', 'where i'), where);
  debug.activeStackItem = { session: { id: 'another' }, frameId: 7 };
  assert.deepEqual(await complete('select', 'where i'), { ...where, options: [] });
});
