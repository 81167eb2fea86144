/** A user whose program hangs, and whose breakpoint is not hit: the Waits view and the Doctor view say why. */

import type { Locator } from 'playwright-core';

import { after, before, step } from './drive';
import { given } from './installation';
import { RayView } from './view';
import { Workbench } from './workbench';

let workbench: Workbench;
let view: RayView;

before(async () => {
  workbench = await Workbench.start({
    vsix: given('RAYDAP_TEST_VSIX'),
    settings: { 'raydap.python': given('RAYDAP_TEST_PYTHON'), 'raydap.dashboard': given('RAYDAP_TEST_DASHBOARD') },
  });
  view = new RayView(workbench);
  await workbench.openAt('stuck.py');
});

after(async () => {
  await workbench.end('why-end');
});

/** A row with this text, in any view of the Ray icon. */
function row(text: string | RegExp): Locator {
  return workbench.page.locator('.customview-tree .monaco-list-row', { hasText: text });
}

step('the views read nothing by themselves, and each has a button', async () => {
  await workbench.runCommand('Focus on Waits View');
  await workbench.page.getByRole('button', { name: 'Show Waits' }).first().waitFor();
  await workbench.runCommand('Focus on Doctor View');
  await workbench.page.getByRole('button', { name: 'Run Doctor' }).first().waitFor();
  await workbench.screenshot('67-why-empty');
});

step('two actors of a launched program wait for each other', async () => {
  await workbench.clickBesideLine(12);
  await workbench.page.keyboard.press('F5');
  await workbench.choose('Debug current file on Ray');
  await view.status('Ray: 3 running');
});

step('the view of the waits shows the deadlock, first by itself and then in the tree', async () => {
  const deadlock = row(/^Deadlock/);
  for (;;) {
    await workbench.runCommand('Raydap: Show Waits');
    const isThere = await deadlock.waitFor({ timeout: 15_000 }).then(
      () => true,
      () => false,
    );
    if (isThere) {
      break;
    }
  }
  await workbench.widenSideBar();
  await row(/Left · ask.*blocked in ray\.get \(stuck\.py:9\)/)
    .first()
    .waitFor();
  await row(/driver stuck\.py.*blocked in ray\.get \(stuck\.py:23\)/).waitFor();
  await workbench.screenshots('68-waits');
});

step('a click on a row goes to its line', async () => {
  // The clusters' rows have the same names once Ray has listed the tasks.
  await row(/Right · answer.*blocked/)
    .first()
    .click();
  await workbench.page.getByText('Ln 18, Col').waitFor();
  await row(/Left · ask.*blocked/)
    .first()
    .click();
  await workbench.page.getByText('Ln 9, Col').waitFor();
});

step('the doctor says why the breakpoint is not hit', async () => {
  await workbench.runCommand('Raydap: Run Doctor');
  await row(/checks found no problem/).waitFor();
  await workbench.screenshots('69-doctor');
});

step('a fix is typed into a terminal, and not run', async () => {
  await workbench.runCommand('Debug: Stop');
  await workbench.page.locator('.debug-toolbar').waitFor({ state: 'hidden' });
  await workbench.runCommand('Raydap: Run Doctor');
  const finding = row(/^No running worker could stop at stuck\.py:12/);
  await finding.waitFor();
  await row(/^raydap run stuck\.py/).waitFor();
  const typed = workbench.terminal().getByText('raydap run stuck.py');
  await view.press(finding, 'Prepare the Fix', () => typed.waitFor());
  await workbench.screenshot('70-doctor-fix');
});

step('in a session without workers, the breakpoint says beside its line why it is not set', async () => {
  await workbench.page.locator('.view-line', { hasText: 'return 0' }).click();
  await workbench.runCommand('Raydap: Attach to Ray Cluster');
  await workbench.lineLabels(/^No worker has set this breakpoint yet/);
  await workbench.screenshot('71-breakpoint-reason');
  await view.stopDebugging();
  await workbench.lineLabels();
});
