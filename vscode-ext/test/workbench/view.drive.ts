/** A user of the Ray view, who adds a cluster, watches it, debugs it, and watches it again. */

import assert from 'node:assert/strict';

import type { FrameLocator } from 'playwright-core';

import { Job } from './job';
import { PAUSED, RayView, STOPPED } from './view';
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
});

after(async () => {
  await workbench.end('view-end');
  job?.end();
});

/** The page with an expression's values. */
function values(): FrameLocator {
  return workbench.page.frameLocator('iframe.webview.ready').frameLocator('#active-frame');
}

step('without a cluster the view says what to do', async () => {
  await view.icon().click();
  await workbench.page.getByText('Add a Ray cluster to see its paused workers.').waitFor();
  await workbench.widenSideBar();
  await workbench.screenshot('20-view-welcome');
});

step('a cluster is added', async () => {
  await workbench.page.locator('.welcome-view .monaco-button', { hasText: 'Add Cluster' }).click();
  await view.answer('Add Cluster', given('RAYDAP_TEST_DASHBOARD'));
  await view.cluster('no worker is paused').waitFor();
});

step('its paused workers appear by themselves, with a badge', async () => {
  job = Job.start(`${workbench.project}/train.py`);
  await view.trainer(PAUSED).nth(2).waitFor();
  await view.badge('3');
  assert.equal(await view.row(/Trainer \d · train/).count(), 3);
  // The levels below do not repeat the counts of the cluster.
  await view.cluster('3 paused').waitFor();
  await view.row(/^job [0-9a-f]+$/).waitFor();
  await view.row(/^Trainer$/).waitFor();
  await workbench.screenshot('21-view-paused');
});

step('one worker alone is attached', async () => {
  await view.press(view.trainer(PAUSED).first(), 'Attach', () => view.status('Ray: 1 stopped, 2 paused'));
  await workbench.runCommand('View: Show Run and Debug');
  // VS Code shows no row for the only thread of a session.
  await workbench.callStack('stack-frame', 'train').waitFor();
  await view.show();
  await view.trainer(STOPPED).first().waitFor();
  assert.equal(await view.trainer(PAUSED).count(), 2);
  await workbench.screenshot('22-one-attached');
});

step('its whole class is attached, and stops here', async () => {
  await view.press(view.row(/^Trainer$/), 'Attach', () => view.status('Ray: 3 stopped'));
  await view.trainer(STOPPED).nth(2).waitFor();
  await workbench.lineLabels(/^3 workers: Trainer 0, 1, 2$/);
  await workbench.screenshots('23-all-stopped');
});

step('a set filters the workers', async () => {
  await workbench.runCommand('Raydap: Filter Workers');
  await view.answer('Filter Workers', 'rank:1-2');
  await view.trainer(STOPPED).nth(1).waitFor();
  await view.row('driver train.py').waitFor({ state: 'hidden' });
  assert.equal(await view.trainer(STOPPED).count(), 2);
  const lenses = workbench.page.locator('.codelens-decoration');
  await lenses.getByText('2 stopped here').first().waitFor();
  await workbench.screenshot('23-filtered');
  await workbench.runCommand('Raydap: Show All Workers');
  await view.row('driver train.py').waitFor();
  assert.equal(await view.trainer(STOPPED).count(), 3);
  await lenses.getByText('3 stopped here').first().waitFor();
});

step('a row leads to its source, and the call stack to its worker', async () => {
  for (const number of [1, 2]) {
    await workbench.goToLine(1);
    const target = view.trainer(STOPPED).nth(number);
    const pid = await view.pid(target);
    await target.click();
    await workbench.page.getByText('Ln 15, Col').waitFor();
    await workbench.runCommand('View: Show Run and Debug');
    await view.selectedInCallStack(pid);
    await view.show();
  }
});

step('one is stepped, and then all at one line', async () => {
  await workbench.runCommand('View: Show Run and Debug');
  await workbench.callStack('thread').first().click();
  await workbench.page.keyboard.press('F10');
  await workbench
    .callStack('thread', /Trainer .*step/s)
    .first()
    .waitFor();
  await workbench
    .callStack('thread', /Trainer .*break/s)
    .first()
    .click();
  await workbench.runCommand('Raydap: Step All at This Line');
  await workbench
    .callStack('thread', /Trainer .*step/s)
    .nth(2)
    .waitFor();
  await workbench.lineLabels(/^3 workers: Trainer 0, 1, 2$/);
});

step('values of all stopped workers are compared', async () => {
  await workbench.runCommand('Raydap: Evaluate in All');
  await view.answer('Evaluate in All', 'gradient // 20');
  const frame = values();
  await frame.getByText('2 × 0, 1 × 1').waitFor();
  assert.equal(await frame.locator('tr.different').count(), 1);
  assert.deepEqual(await frame.locator('tr.usual .count').allTextContents(), ['2']);
  await frame.getByText('lowest 0').waitFor();
  await view.show();
  await workbench.screenshots('24-evaluated');
});

step('the comparison is sorted, filtered by a set, and made with kept values', async () => {
  const frame = values();
  const counts = frame.locator('tr .count');
  assert.deepEqual(await counts.allTextContents(), ['1', '2']);
  await frame.getByRole('button', { name: 'Value' }).click();
  assert.deepEqual(await counts.allTextContents(), ['2', '1']);
  const set = frame.getByLabel('Set', { exact: true });
  await set.pressSequentially('act');
  await frame.getByRole('option', { name: 'actor:Trainer' }).waitFor();
  await set.fill('');
  await set.pressSequentially('where grad');
  await frame.getByRole('option', { name: 'where gradient' }).waitFor();
  await workbench.screenshot('24-completed');
  await set.press('ArrowDown');
  await workbench.page.keyboard.press('Enter');
  assert.equal(await set.inputValue(), 'where gradient');
  await set.fill('where gradient > 19');
  await set.press('Enter');
  await frame.getByText('1 × 1', { exact: true }).waitFor();
  await set.fill('actr:Trainer');
  await set.press('Enter');
  await frame.getByText('did you mean actor').waitFor();
  await set.fill('');
  await frame.getByRole('button', { name: 'Keep' }).click();
  await frame.getByLabel('compare with the kept values').check();
  await frame.getByRole('row', { name: /unchanged 3 Trainer/ }).waitFor();
  await workbench.screenshot('26-compared-with-before');
  await frame.getByLabel('compare with the kept values').uncheck();
  await frame.getByText('2 × 0, 1 × 1').waitFor();
});

step('one is continued from the view, and its next stop arrives by itself', async () => {
  await view.press(view.trainer(STOPPED).first(), 'Continue', async () => {
    await workbench.runCommand('View: Show Run and Debug');
    await workbench
      .callStack('thread', /Trainer .*break/s)
      .first()
      .waitFor();
  });
  await view.status('Ray: 3 stopped');
});

step('the values are looked up again', async () => {
  await workbench.page.locator('.tab', { hasText: 'gradient // 20' }).click();
  await workbench.page.locator('.editor-actions .action-label[aria-label^="Evaluate Again"]').click();
  await values().getByText('2 × 0, 1 × 1').waitFor();
});

step('all are continued, and the result of the job is right', async () => {
  assert.ok(job !== undefined);
  await workbench.runCommand('Raydap: Continue All');
  await view.status('Ray: 2 stopped, 1 running');
  await view.show();
  await view.cluster('2 stopped, 1 running').waitFor();
  await workbench.screenshot('25-running');
  await workbench.runCommand('Raydap: Continue All');
  assert.equal(await job.result(), '[1, 21, 41]');
});

step('after the session the cluster is watched again', async () => {
  await view.stopDebugging();
  await view.show();
  await view.cluster('no worker is paused').waitFor();
  await workbench.page.locator('.statusbar-item', { hasText: 'Ray:' }).waitFor({ state: 'hidden' });
});

step('nothing of this was worth a message', async () => {
  assert.equal(await workbench.message(/./).count(), 0);
});

step('the whole cluster is debugged, before anybody has paused', async () => {
  await view.press(view.cluster(), 'Debug This Cluster', () => view.status('Ray: no worker is stopped'));
  job = Job.start(`${workbench.project}/train.py`);
  await view.status('Ray: 3 stopped');
});

step('a stopped worker that dies is told of once, and stays in the view with the reason', async () => {
  await view.show();
  const pid = await view.pid(view.trainer(STOPPED).first());
  process.kill(pid, 'SIGKILL');
  await workbench.message(new RegExp(`Trainer \\d · train: The stopped worker ${pid} on`)).waitFor();
  await view.status('Ray: no worker is stopped');
  assert.equal(await workbench.message(/./).count(), 1);
  await view
    .row(/Trainer \d · traingone/)
    .first()
    .waitFor();
  await workbench.screenshot('26-gone');
  job?.end();
  await view.stopDebugging();
});

step('what is no cluster says so, and what to do, in lines that are not cut', async () => {
  await view.show();
  await view.add(workbench.url);
  await view.row(/not connected/).waitFor();
  await view.row(/\[raydap 2003\]/).waitFor();
  await workbench.screenshots('27-no-cluster');
});
