/** A user of the Ray view: a cluster is added, watched, debugged, and watched again. */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import type { Locator } from 'playwright-core';

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

/** Of the view, in the activity bar. */
function icon(): Locator {
  return workbench.page.locator('.activitybar .action-item:has([aria-label^="Ray"])');
}

async function show(): Promise<void> {
  await icon().click();
  await cluster().or(workbench.page.getByText('Add a Ray cluster')).first().waitFor();
}

/** One of the buttons that a row shows under the mouse. */
async function press(target: Locator, button: string): Promise<void> {
  await target.hover();
  await target.locator(`.action-label[aria-label="${button}"]`).click();
}

async function badge(text: string): Promise<void> {
  await icon().locator('.badge-content', { hasText: text }).waitFor();
}

async function status(text: string): Promise<void> {
  await workbench.page.locator('.statusbar-item', { hasText: text }).waitFor();
}

test('without a cluster the view says what to do', async () => {
  await show();
  await workbench.page.getByText('Add a Ray cluster to see its paused workers.').waitFor();
  await workbench.widenSideBar();
  await workbench.screenshot('20-view-welcome');
});

test('a cluster is added', async () => {
  await workbench.page.locator('.welcome-view .monaco-button', { hasText: 'Add Cluster' }).click();
  await workbench.answer(given('RAYDAP_TEST_DASHBOARD'));
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

test('debugging the cluster stops all of them here', async () => {
  await press(cluster(), 'Debug This Cluster');
  await workbench.callStack('thread').nth(2).waitFor();
  await status('Ray: 3 stopped');
  await show();
  await trainer(STOPPED).nth(2).waitFor();
  await workbench.screenshot('22-view-stopped');
});

test('a row leads to its source', async () => {
  await workbench.page.keyboard.press('Control+Home');
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
  await workbench.answer('gradient // 20');
  const frame = workbench.page.frameLocator('iframe.webview.ready').frameLocator('#active-frame');
  await frame.getByText('2 × 0, 1 × 1').waitFor();
  assert.equal(await frame.locator('tr.different').count(), 1);
  assert.equal(await frame.locator('tr.usual').count(), 2);
  await show();
  await workbench.screenshot('23-evaluated');
});

test('one is continued from the view', async () => {
  await press(trainer(STOPPED).first(), 'Continue');
  await row(/Trainer\.train/)
    .first()
    .waitFor();
  await workbench.screenshot('24-continued');
});

test('all are continued, and the result of the job is right', async () => {
  assert.ok(job !== undefined);
  await status('Ray: 3 stopped');
  await workbench.runCommand('Raydap: Continue All');
  await status('Ray: 2 stopped, 1 running');
  await workbench.screenshot('25-running');
  await workbench.runCommand('Raydap: Continue All');
  assert.equal(await job.result(), '[1, 21, 41]');
});

test('after the session the cluster is watched again', async () => {
  await workbench.page.keyboard.press('Shift+F5');
  await workbench.page.locator('.debug-toolbar').waitFor({ state: 'hidden' });
  await cluster().filter({ hasText: 'nobody is paused' }).waitFor();
  assert.equal(await workbench.page.locator('.statusbar-item', { hasText: 'Ray:' }).count(), 0);
  await workbench.screenshot('26-watched-again');
});
