/**
 * A new user, from the first page of the walkthrough to the stops of the example. There is no cluster, and the
 * interpreter is the only setting.
 */

import assert from 'node:assert/strict';
import { existsSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { Locator } from 'playwright-core';

import { after, before, step } from './drive';
import { given } from './installation';
import { POLLING, Workbench } from './workbench';

const home = join(tmpdir(), 'home');
/** A folder in `home`. */
const ENTRY = 'other-project';
let workbench: Workbench;

before(async () => {
  mkdirSync(join(home, ENTRY), { recursive: true });
  workbench = await Workbench.start({
    vsix: given('RAYDAP_TEST_VSIX'),
    settings: { 'raydap.python': given('RAYDAP_TEST_PYTHON') },
    // The view must list no cluster, and no other test may find the cluster that the example starts.
    env: { RAY_ADDRESS: undefined, RAY_TMPDIR: tmpdir() },
  });
  await workbench.open();
  await workbench.known();
});

after(async () => {
  await workbench.end('walkthrough-end');
});

function section(title: string): Locator {
  return workbench.page.locator('.getting-started-step', { hasText: title });
}

/** Open a step, unless the page has already opened it because the step before is done. */
async function openStep(title: string): Promise<void> {
  if ((await section(title).getAttribute('aria-expanded')) !== 'true') {
    await section(title).locator('.step-title').click();
  }
}

/** The picture or table beside the steps, which is shown if there is room for it. */
function picture(kind: 'svg' | 'table'): Locator {
  return workbench.page.frameLocator('iframe.webview').frameLocator('#active-frame').locator(kind);
}

/** Wait until the step is marked as done. */
async function done(title: string): Promise<void> {
  await section(title)
    .locator('.codicon-getting-started-step-checked:not(.codicon-getting-started-step-unchecked)')
    .waitFor();
}

step('the page shows its steps', async () => {
  await workbench.runCommand('Raydap: Get Started');
  await section('Choose the Python interpreter').waitFor();
  assert.equal(await workbench.page.locator('.getting-started-step').count(), 6);
  await picture('table').waitFor();
  await workbench.screenshot('w1-python');
});

step('the example is opened where the user wants it, and the page is there again', async () => {
  const { page } = workbench;
  await openStep('Open the example project');
  await picture('svg').waitFor();
  await workbench.screenshot('w2-example');
  await section('Open the example project').getByText('Open Example Project').click();
  // The dialog overwrites its input box with a folder of its own twice: first alone, then with the list of its entries.
  await page.waitForFunction(
    () => document.querySelector<HTMLInputElement>('.quick-input-widget input')?.value.endsWith('/'),
    undefined,
    POLLING,
  );
  const rows = page.locator('.quick-input-list .monaco-list-row');
  await rows.first().waitFor();
  const box = page.locator('.quick-input-widget input');
  await box.fill(`${home}/`);
  // The dialog ignores Enter until it lists the entries of the folder.
  await rows.filter({ hasText: ENTRY }).waitFor();
  await box.press('Enter');
  await page.locator('.tab[data-resource-name="trainer.py"]').waitFor();
  assert.ok(existsSync(join(home, 'raydap-example', 'trainer.py')));
  await done('Open the example project');
  await workbench.screenshot('w3-opened');
});

step('it is debugged', async () => {
  await openStep('Debug it');
  await workbench.screenshot('w4-debug');
  await section('Debug it').getByText('Debug Example').click();
  await workbench
    .callStack('thread', /RolloutWorker.* · collect · .*break/s)
    .nth(2)
    .waitFor();
  await done('Debug it');
  await workbench.screenshot('w5-stops');
});

step('all are continued, and the next stop comes by itself', async () => {
  await openStep('Step one, continue all');
  await workbench.screenshot('w6-continue');
  await section('Step one, continue all').getByText('Continue All', { exact: true }).click();
  // VS Code shows no row for the only thread.
  await workbench.callStack('stack-frame', 'score').waitFor();
  await done('Step one, continue all');
});

step('the Ray view shows the cluster that the example has started', async () => {
  await openStep('Watch your clusters');
  await workbench.screenshot('w7-view');
  await section('Watch your clusters').getByText('Show the Ray View').click();
  await workbench.page.locator('.customview-tree .monaco-list-row', { hasText: 'RewardServer' }).first().waitFor();
  await workbench.screenshot('w8-ray-view');
});

step('leaving ends the program', async () => {
  await workbench.page.keyboard.press('Shift+F5');
  await workbench.page.locator('.debug-toolbar').waitFor({ state: 'hidden' });
});
