import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';

import type { Uri } from 'vscode';

import { EvaluationPanel } from '../../../src/views/evaluation-panel';
import { settled } from '../fake-source';
import { contexts, Uri as FakeUri, panels, resetVscode } from '../fake-vscode';

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
  shown.workersMoved('another');
  assert.deepEqual(page.webview.posted, []);
  shown.workersMoved('one');
  shown.workersMoved('one');
  assert.deepEqual(page.webview.posted, [{ kind: 'moved' }]);
  void shown.evaluateAgain();
  await requester.answer(1, '2');
  assert.match(page.webview.html, /class="moved" role="status" hidden/);
});

test('values are old from the beginning if a worker has moved while they were read, or while the page is hidden', async () => {
  const requester = new Requester();
  const shown = panel();
  void shown.show(requester, 'loss');
  shown.workersMoved('one');
  await requester.answer(0, '1');
  const [page] = panels;
  assert.ok(page !== undefined);
  assert.match(page.webview.html, /class="moved" role="status">/);
  void shown.evaluateAgain();
  await requester.answer(1, '2');
  page.visible = false;
  shown.workersMoved('one');
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
