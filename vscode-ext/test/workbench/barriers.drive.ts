/** A breakpoint with the hit count `all`. A message lists the missing workers, and all workers stop together. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type { Locator } from 'playwright-core';

import { RayView } from './view';
import { after, before, step } from './drive';
import { given } from './installation';
import { Workbench } from './workbench';

let workbench: Workbench;
let view: RayView;

before(async () => {
  workbench = await Workbench.start({
    vsix: given('RAYDAP_TEST_VSIX'),
    settings: {
      'raydap.python': given('RAYDAP_TEST_PYTHON'),
      'raydap.dashboard': given('RAYDAP_TEST_DASHBOARD'),
    },
  });
  view = new RayView(workbench);
  await workbench.openAt('meet.py');
});

after(async () => {
  // The program keeps running without raydap. It ends when its folder is removed, if not earlier.
  await workbench.end('barriers-end');
});

/** The workers of the class Walker, by their icon. */
function walkers(icon: string): Locator {
  return view.row(/Walker \d/).filter({ has: workbench.page.locator(icon) });
}

step('the user sets a hit count', async () => {
  await workbench.goToLine(19);
  await workbench.runCommand('Debug: Add Conditional Breakpoint');
  await workbench.page.locator('.breakpoint-widget select').first().selectOption({ label: 'Hit Count' });
  await workbench.page.locator('.breakpoint-widget .monaco-editor').click();
  await workbench.page.locator('.breakpoint-widget .monaco-editor.focused').waitFor();
  await workbench.page.keyboard.type('all');
  await workbench.page.keyboard.press('Enter');
  await workbench.breakpoints().first().waitFor();
});

step('two workers wait, and the progress says who is missing', async () => {
  await workbench.page.keyboard.press('F5');
  await workbench.choose('Debug current file on Ray');
  await view.show();
  await walkers('.codicon-watch').nth(1).waitFor();
  const missing = /2 of 3 arrived, missing: Walker \d \(running, meet\.py:1[78]\)/;
  await workbench.page.locator('.notification-toast', { hasText: missing }).waitFor();
  await walkers('.codicon-play').waitFor();
  await workbench.screenshots('50-barrier');
});

step('when the last one comes, all stop at once', async () => {
  writeFileSync(join(workbench.project, 'go'), '');
  await view.status('Ray: 3 stopped, 1 running');
  await workbench.lineLabels(/^3 workers: Walker 0, 1, 2$/);
  await workbench.page.locator('.notification-toast', { hasText: 'arrived' }).waitFor({ state: 'hidden' });
  await workbench.screenshot('51-barrier-open');
});

step('they are continued, and the program ends', async () => {
  await workbench.runCommand('Raydap: Continue All');
  await workbench.page.locator('.debug-toolbar').waitFor({ state: 'hidden' });
});
