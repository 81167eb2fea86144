/**
 * A user whose program does not call breakpoint(). The user clicks beside lines and presses F5, and an actor, a task
 * and the driver stop. Another program asks its user in a terminal.
 */

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type { Locator } from 'playwright-core';

import { RayView, RUNNING, STOPPED } from './view';
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
  await workbench.openAt('plan.py');
});

after(async () => {
  await workbench.end('launch-end');
});

function planners(): Locator {
  return workbench.callStack('thread', /Planner \d · plan · .*break/s);
}

/** The lenses above functions in which two workers are stopped. */
function lenses(): Locator {
  return workbench.page.locator('.codelens-decoration', { hasText: '2 stopped here' });
}

/** Wait for this text in the debug console. */
async function console(text: string): Promise<void> {
  await workbench.page.locator('.repl .monaco-list-row', { hasText: text }).first().waitFor();
}

step('the user clicks beside lines of an actor and of the driver, and presses F9 in a task', async () => {
  await workbench.clickBesideLine(10);
  await workbench.clickBesideLine(24);
  await workbench.goToLine(17);
  await workbench.page.keyboard.press('F9');
  await workbench.breakpoints().nth(2).waitFor();
  await workbench.screenshot('f5-breakpoints');
});

step('F5 launches the program, and both actors stop', async () => {
  await workbench.page.keyboard.press('F5');
  await workbench.page.getByText('Debug current file on Ray').waitFor();
  await workbench.screenshot('f5-choice');
  await workbench.choose('Debug current file on Ray');
  await planners().nth(1).waitFor();
  await workbench.widenSideBar();
  await workbench.openScope('Locals');
  await workbench.variable('route').filter({ hasText: '[0, 10, 20]' }).waitFor();
  await workbench.lineLabels(/^2 workers: Planner 0, 1$/);
  // The language server shows a lens above the class and its method, and the values of both actors.
  await lenses().nth(1).waitFor();
  await workbench.page.locator('.debug-inline-value', { hasText: 'route = [0, 10, 20]' }).first().waitFor();
  await workbench.screenshots('14-live-workers');
});

step('the Ray view shows them, and the driver, which waits for them', async () => {
  await view.show();
  await view
    .row(/Planner \d · plan/)
    .filter({ has: workbench.page.locator(STOPPED) })
    .nth(1)
    .waitFor();
  await view
    .row('driver plan.py')
    .filter({ has: workbench.page.locator(RUNNING) })
    .waitFor();
  await workbench.screenshot('61-launched-view');
});

step('a lens compares, steps and continues the workers in its function', async () => {
  await lenses().last().getByText('compare').click();
  await workbench.answer('steps + len(route)');
  const table = workbench.page.frameLocator('iframe.webview.ready').frameLocator('#active-frame');
  await table.getByText('6').first().waitFor();
  await workbench.screenshot('61b-launched-compared');
  await lenses().last().getByText('step all').click();
  await workbench.page.locator('.debug-inline-value', { hasText: 'route = [20, 10, 0]' }).nth(2).waitFor();
  await workbench.lineLabels(/^2 workers: Planner 0, 1$/);
  await workbench.screenshot('61c-launched-stepped');
  await lenses().last().getByText('continue').click();
  await workbench.page.getByText('Ln 17, Col').waitFor();
  await workbench.runCommand('View: Show Run and Debug');
  // VS Code shows no row for the only stopped thread.
  await workbench.callStack('stack-frame', 'measure').waitFor();
  await workbench.lineLabels(/^measure \d+$/);
  await workbench.screenshot('62-launched-task');
});

step('the stack of the task leads to the call in the driver, which runs', async () => {
  await workbench.callStack('stack-frame', 'called by driver plan.py').waitFor();
  await workbench.callStack('stack-frame', '<module>').click();
  await workbench.page.getByText('Ln 23, Col').waitFor();
  await workbench.openScope('Locals');
  await workbench.variable('planners').waitFor();
  await workbench.screenshot('62b-caller');
});

step('it is continued, and the driver stops', async () => {
  await workbench.page.keyboard.press('F5');
  await workbench.page.getByText('Ln 24, Col').waitFor();
  await workbench.callStack('stack-frame', '<module>').waitFor();
  await workbench.openScope('Locals');
  await workbench.variable('length').filter({ hasText: '60' }).waitFor();
  await workbench.screenshot('63-launched-driver');
});

step('it is continued, and the session ends with the program', async () => {
  await workbench.page.keyboard.press('F5');
  await workbench.page.locator('.debug-toolbar').waitFor({ state: 'hidden' });
  await console('result: 60');
  await workbench.screenshot('f5-result');
});

step('a program with a terminal asks its user there, and stops at a breakpoint', async () => {
  await workbench.openFile('ask.py');
  await workbench.clickBesideLine(5);
  mkdirSync(join(workbench.project, '.vscode'));
  const configuration = {
    type: 'raydap',
    request: 'launch',
    name: 'Ask',
    program: '${file}',
    console: 'integratedTerminal',
  };
  writeFileSync(join(workbench.project, '.vscode', 'launch.json'), JSON.stringify({ configurations: [configuration] }));
  await workbench.page.locator('.statusbar-item', { hasText: 'Ask (project)' }).waitFor();
  await workbench.page.keyboard.press('F5');
  await workbench.terminal().getByText('Which run?').waitFor();
  await workbench.focusTerminal();
  await workbench.page.keyboard.type('seven');
  await workbench.page.keyboard.press('Enter');
  await workbench.page.locator('.debug-inline-value', { hasText: "greeting = 'run seven', name" }).waitFor();
  await workbench.screenshot('67-terminal');
  await workbench.page.keyboard.press('F5');
  await workbench.page.locator('.debug-toolbar').waitFor({ state: 'hidden' });
  await workbench.terminal().getByText('run seven').waitFor();
});
