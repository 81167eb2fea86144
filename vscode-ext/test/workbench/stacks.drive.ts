/** The Stacks view and its picture. They show workers that have parted, and commands act on a branch. */

import assert from 'node:assert/strict';

import type { FrameLocator, Locator } from 'playwright-core';

import { Job } from './job';
import { RayView } from './view';
import { after, before, step } from './drive';
import { given } from './installation';
import { Workbench } from './workbench';

let workbench: Workbench;
let view: RayView;
let job: Job | undefined;

before(async () => {
  workbench = await Workbench.start({
    vsix: given('RAYDAP_TEST_VSIX'),
    settings: { 'raydap.python': given('RAYDAP_TEST_PYTHON') },
  });
  view = new RayView(workbench);
  await workbench.openAt('train.py');
  await view.icon().click();
  await workbench.widenSideBar();
});

after(async () => {
  await workbench.end('stacks-end');
  job?.end();
});

/** The text of the row of workers at line 16. */
const STEPPED = /(?<!missing in )train \(train\.py:16\)/;
/** The text of the row of workers at line 15. */
const OTHERS = /(?<!missing in )train \(train\.py:15\)/;

function row(text: string | RegExp): Locator {
  return workbench.page.locator('.customview-tree .monaco-list-row', { hasText: text });
}

function picture(): FrameLocator {
  return workbench.page.frameLocator('iframe.webview.ready').frameLocator('#active-frame');
}

/** The page with an expression's values, which is opened after the picture. */
function comparison(): FrameLocator {
  return workbench.page.locator('iframe.webview.ready').last().contentFrame().frameLocator('#active-frame');
}

async function press(text: RegExp, button: string, worked: Locator): Promise<void> {
  await view.press(row(text), button, () => worked.waitFor());
}

step('three workers stop at one line', async () => {
  job = Job.start(`${workbench.project}/train.py`);
  await view.add(given('RAYDAP_TEST_DASHBOARD'));
  await view.cluster('3 paused').waitFor();
  await view.press(view.cluster(), 'Debug This Cluster', () => view.status('Ray: 3 stopped'));
});

step('they are one branch of the tree', async () => {
  await workbench.runCommand('Focus on Stacks View');
  await row(/train \(train\.py:15\).*3 · Trainer\{0-2\}/).waitFor();
});

step('the one that is stepped is another branch, and comes first', async () => {
  await workbench.runCommand('View: Show Run and Debug');
  await workbench.callStack('thread').first().click();
  await workbench.page.keyboard.press('F10');
  await workbench.runCommand('Focus on Stacks View');
  await row(/train \(train\.py:16\).*1 · Trainer/).waitFor();
  await row(/Trainer \d missing in train \(train\.py:15\)/).waitFor();
  // Compare the places of the rows: the page contains them in the order in which they were made.
  const [few, most] = await Promise.all([STEPPED, OTHERS].map(async (text) => (await row(text).boundingBox())?.y ?? 0));
  assert.ok((few ?? 0) < (most ?? 0), `${few} ${most}`);
  await workbench.screenshots('40-stacks');
});

step('a click leads to the stop', async () => {
  await row(OTHERS).click();
  await workbench.page.getByText('Ln 15, Col').waitFor();
  await row(STEPPED).click();
  await workbench.page.getByText('Ln 16, Col').waitFor();
});

step('the picture can be walked through by keys', async () => {
  await workbench.runCommand('Raydap: Show Stacks as a Picture');
  const frames = picture().locator('svg g');
  await frames.nth(2).waitFor();
  assert.equal(await frames.count(), 3);
  await frames.first().focus();
  await picture().getByRole('status').getByText('3 threads').waitFor();
  await frames.first().press('ArrowDown');
  await picture().getByRole('status').getByText('train (train.py:15)').waitFor();
  await picture().locator('g:focus').press('ArrowLeft');
  await picture().getByRole('status').getByText('train (train.py:16)').waitFor();
  await workbench.screenshots('41-stacks-picture');
});

step('a branch is stepped and continued', async () => {
  await press(OTHERS, 'Step', row(/train \(train\.py:16\).*3 · Trainer\{0-2\}/));
  await press(STEPPED, 'Compare …', workbench.page.locator('.quick-input-title', { hasText: 'Evaluate in 3 stopped' }));
  await view.answer('Evaluate in 3 stopped threads', 'self.rank * 100 + number');
  await comparison().getByRole('cell', { name: 'Trainer 2' }).waitFor();
  await comparison().getByRole('cell', { name: '200', exact: true }).waitFor();
  await comparison().getByRole('button', { name: 'Value' }).click();
  await press(STEPPED, 'Continue', row(/train \(train\.py:15\).*3 · Trainer\{0-2\}/));
});

step('the comparison is read again at the next stop, and keeps its sorting', async () => {
  await comparison().getByRole('cell', { name: '201', exact: true }).waitFor();
  await comparison().locator('th[aria-sort=ascending]', { hasText: 'Value' }).waitFor();
  // Workers that stop more than 0.3 s after each other cause several comparisons.
  await comparison()
    .getByText(/^\d+ stops, from 0 to 201: Trainer 0, Trainer 1, Trainer 2$/)
    .waitFor();
  await workbench.screenshots('42-refreshed');
});

step('workers that run are in it, too', async () => {
  await press(OTHERS, 'Continue', workbench.page.getByText('No worker is stopped.'));
  assert.equal(await job?.result(), '[1, 21, 41]');
});
