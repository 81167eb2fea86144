/** A user whose program never pauses. The Ray view lists its workers, and the user attaches to them there. */

import type { Locator } from 'playwright-core';

import { ALIVE, RayView, RUNNING, STOPPED } from './view';
import { after, before, step } from './drive';
import { given } from './installation';
import { Workbench } from './workbench';

let workbench: Workbench;
let view: RayView;

before(async () => {
  workbench = await Workbench.start({
    vsix: given('RAYDAP_TEST_VSIX'),
    settings: { 'raydap.python': given('RAYDAP_TEST_PYTHON'), 'raydap.dashboard': given('RAYDAP_TEST_DASHBOARD') },
  });
  view = new RayView(workbench);
  await workbench.openAt('walker.py');
});

after(async () => {
  await workbench.end('alive-end');
});

function walker(icon: string): Locator {
  return view.row(/Walker( \d)? · walk/).filter({ has: workbench.page.locator(icon) });
}

step('a program is launched, and its workers run without a debugger', async () => {
  // The command is available when VS Code shows this text, not earlier.
  await workbench.page.getByText('Debug Current File on Ray').first().waitFor();
  await workbench.runCommand('Raydap: Debug Current File on Ray');
  await workbench.page.locator('.debug-toolbar').waitFor();
  await view.show();
  await workbench.widenSideBar();
  await walker(ALIVE).waitFor();
  await workbench.screenshot('50-alive');
});

step('its stack is shown while it runs, and its files are links', async () => {
  // VS Code draws a long link in several parts.
  const line = workbench.page.locator('.editor-instance .view-line', { hasText: 'walker.py", line' });
  const link = line.locator('.detected-link');
  await view.menu(walker(ALIVE), 'Show Stack', () => link.first().waitFor());
  await walker(ALIVE).waitFor();
  await workbench.screenshot('52-stack');
});

step('one is attached, though nothing stops it', async () => {
  await view.press(walker(ALIVE), 'Attach', () => walker(RUNNING).waitFor());
  await workbench.screenshot('51-alive-attached');
});

step('it is paused, and goes on', async () => {
  await view.menu(walker(RUNNING), 'Pause', () => walker(STOPPED).waitFor());
  await workbench.screenshot('53-paused');
  await view.press(walker(STOPPED), 'Continue', () => walker(RUNNING).waitFor());
});

step('it is let go, and runs on', async () => {
  await view.menu(walker(RUNNING), 'Detach', () => walker(ALIVE).waitFor());
});

step('what ends with the program leaves the view', async () => {
  await view.stopDebugging();
  await walker(ALIVE).waitFor({ state: 'hidden' });
});
