/** A user of the Ray view: a cluster is added, watched, debugged, and watched again. */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import type { FrameLocator, Locator } from 'playwright-core';

import { Job } from './job';
import { given, Workbench } from './workbench';

let workbench: Workbench;
let job: Job | undefined;

before(async () => {
  workbench = await Workbench.start({
    vsix: given('RAYDAP_TEST_VSIX'),
    settings: { 'raydap.python': given('RAYDAP_TEST_PYTHON') },
  });
  await workbench.open();
  await workbench.openFile('train.py');
  await workbench.known();
});

after(async () => {
  await workbench.end('view-end');
  job?.end();
});

/** Rows of the view; what a row says is its label and its description. */
function row(text: string | RegExp): Locator {
  return workbench.page.locator('.customview-tree .monaco-list-row', { hasText: text });
}

const cluster = (): Locator => workbench.page.locator('.customview-tree .monaco-list-row[aria-level="1"]');
const trainer = (icon: string): Locator => row(/Trainer\.train/).filter({ has: workbench.page.locator(icon) });
const PAUSED = '.codicon-debug-pause';
const STOPPED = '.codicon-debug-stackframe';

/** The table of an expression's values. */
function values(): FrameLocator {
  return workbench.page.frameLocator('iframe.webview.ready').frameLocator('#active-frame');
}

/** Of the view, in the activity bar. */
function icon(): Locator {
  return workbench.page.locator('.activitybar .action-item:has([aria-label^="Ray"])');
}

/** By a command, because a click on the icon of the view that is shown hides it. */
async function show(): Promise<void> {
  await workbench.runCommand('Focus on Clusters View');
  await cluster().or(workbench.page.getByText('Add a Ray cluster')).first().waitFor();
}

/** One of the buttons that a row shows under the mouse. */
async function press(target: Locator, button: string): Promise<void> {
  await target.hover();
  await target.locator(`.action-label[aria-label="${button}"]`).click();
}

/** Answers the question with this title, which may come after another list has closed. */
async function answer(title: string, text: string): Promise<void> {
  await workbench.page.locator('.quick-input-title', { hasText: title }).waitFor();
  await workbench.answer(text);
}

async function badge(text: string): Promise<void> {
  await icon().locator('.badge-content', { hasText: text }).waitFor();
}

async function status(text: string): Promise<void> {
  await workbench.page.locator('.statusbar-item', { hasText: text }).waitFor();
}

test('without a cluster the view says what to do', async () => {
  await icon().click();
  await workbench.page.getByText('Add a Ray cluster to see its paused workers.').waitFor();
  await workbench.widenSideBar();
  await workbench.screenshot('20-view-welcome');
});

test('a cluster is added', async () => {
  await workbench.page.locator('.welcome-view .monaco-button', { hasText: 'Add Cluster' }).click();
  await answer('Add Cluster', given('RAYDAP_TEST_DASHBOARD'));
  await cluster().filter({ hasText: 'nobody is paused' }).waitFor();
});

test('its paused workers appear by themselves, with a badge', async () => {
  job = Job.start(`${workbench.project}/train.py`);
  await trainer(PAUSED).nth(2).waitFor();
  await badge('3');
  assert.equal(await row(/Trainer\.train/).count(), 3);
  await row(/^Trainer3 paused$/).waitFor();
  await workbench.screenshot('21-view-paused');
});

test('one worker alone is attached', async () => {
  await press(trainer(PAUSED).first(), 'Attach');
  await status('Ray: 1 stopped, 2 paused');
  // A thread that is alone has no row of its own.
  await workbench.callStack('stack-frame', 'train').waitFor();
  await show();
  await trainer(STOPPED).first().waitFor();
  assert.equal(await trainer(PAUSED).count(), 2);
  await workbench.screenshot('22-one-attached');
});

test('its whole class is attached, and stops here', async () => {
  await press(row(/^Trainer1 stopped, 2 paused$/), 'Attach');
  await status('Ray: 3 stopped');
  await trainer(STOPPED).nth(2).waitFor();
  await workbench.screenshot('23-all-stopped');
});

test('a row leads to its source', async () => {
  await workbench.goToLine(1);
  await trainer(STOPPED).nth(1).click();
  await workbench.page.getByText('Ln 15, Col').waitFor();
});

test('one is stepped, and then all at one line', async () => {
  await workbench.runCommand('View: Show Run and Debug');
  await workbench.callStack('thread').first().click();
  await workbench.page.keyboard.press('F10');
  await workbench
    .callStack('thread', /paused on step/i)
    .first()
    .waitFor();
  await workbench
    .callStack('thread', /paused on breakpoint/i)
    .first()
    .click();
  await workbench.runCommand('Raydap: Step All Workers Stopped at This Line');
  await workbench
    .callStack('thread', /paused on step/i)
    .nth(2)
    .waitFor();
});

test('values of all stopped workers are compared', async () => {
  await workbench.runCommand('Raydap: Evaluate in All Stopped Workers');
  await answer('Evaluate in All Stopped Workers', 'gradient // 20');
  const frame = values();
  await frame.getByText('2 × 0, 1 × 1').waitFor();
  assert.equal(await frame.locator('tr.different').count(), 1);
  assert.equal(await frame.locator('tr.usual').count(), 2);
  await show();
  await workbench.screenshot('24-evaluated');
});

test('one is continued from the view, and its next stop arrives by itself', async () => {
  await press(trainer(STOPPED).first(), 'Continue');
  await workbench.runCommand('View: Show Run and Debug');
  await workbench
    .callStack('thread', /paused on breakpoint/i)
    .first()
    .waitFor();
  await status('Ray: 3 stopped');
});

test('the values are looked up again', async () => {
  await workbench.page.locator('.tab', { hasText: 'gradient // 20' }).click();
  await workbench.page.locator('.editor-actions .action-label[aria-label="Evaluate Again"]').click();
  await values().getByText('2 × 0, 1 × 1').waitFor();
});

test('all are continued, and the result of the job is right', async () => {
  assert.ok(job !== undefined);
  await workbench.runCommand('Raydap: Continue All');
  await status('Ray: 2 stopped, 1 running');
  await show();
  await workbench.screenshot('25-running');
  await workbench.runCommand('Raydap: Continue All');
  assert.equal(await job.result(), '[1, 21, 41]');
});

test('after the session the cluster is watched again', async () => {
  await workbench.page.keyboard.press('Shift+F5');
  await workbench.page.locator('.debug-toolbar').waitFor({ state: 'hidden' });
  await show();
  await cluster().filter({ hasText: 'nobody is paused' }).waitFor();
  await workbench.page.locator('.statusbar-item', { hasText: 'Ray:' }).waitFor({ state: 'hidden' });
});

test('nothing of this was worth a message', async () => {
  assert.equal(await workbench.message(/./).count(), 0);
});

test('the whole cluster is debugged, before anybody has paused', async () => {
  await press(cluster(), 'Debug This Cluster');
  await status('Ray: nobody is stopped');
  job = Job.start(`${workbench.project}/train.py`);
  await status('Ray: 3 stopped');
});

test('a stopped worker that dies is told of once, and stays in the view with the reason', async () => {
  await show();
  const description = await trainer(STOPPED).first().textContent();
  const pid = /(\d+) · [\d.]+$/.exec(description?.trim() ?? '')?.[1] ?? '';
  process.kill(Number(pid), 'SIGKILL');
  const message = workbench.message(new RegExp(`stopped workers? (is|are) gone: .*Trainer\\.train · ${pid}`));
  await message.waitFor();
  assert.equal(await message.count(), 1);
  assert.equal(await workbench.message(/raydap 3003/).count(), 0);
  await row(/Trainer\.traingone/).waitFor();
  await workbench.screenshot('26-gone');
  job?.end();
  await workbench.page.keyboard.press('Shift+F5');
  await workbench.page.locator('.debug-toolbar').waitFor({ state: 'hidden' });
});

test('what is no cluster says so in one line', async () => {
  await show();
  await workbench.runCommand('Raydap: Add Cluster');
  await answer('Add Cluster', workbench.url);
  await row(/not connected/).waitFor();
  await row(/\[raydap 2003\]/).waitFor();
  await workbench.screenshot('27-no-cluster');
});
