/** A user who starts programs in a Ray Debug Terminal, without F5: a program of Ray stops, and its session ends with it. */

import { delimiter, dirname } from 'node:path';

import type { Locator } from 'playwright-core';

import { after, before, step } from './drive';
import { given } from './installation';
import { Workbench } from './workbench';

let workbench: Workbench;

before(async () => {
  const python = given('RAYDAP_TEST_PYTHON');
  const PATH = [dirname(python), process.env.PATH].join(delimiter);
  workbench = await Workbench.start({
    vsix: given('RAYDAP_TEST_VSIX'),
    settings: {
      'raydap.python': python,
      // VS Code does not use the variables of a profile for the terminals of extensions.
      'terminal.integrated.env.linux': { PS1: '$ ', PATH, RAY_LOG_TO_DRIVER: '0' },
    },
  });
  await workbench.openAt('plan.py');
});

after(async () => {
  await workbench.end('terminal-end');
});

function toolbar(): Locator {
  return workbench.page.locator('.debug-toolbar');
}

/** Type a command line into the open terminal. */
async function type(line: string): Promise<void> {
  await workbench.terminal().getByText('$').last().waitFor();
  await workbench.focusTerminal();
  await workbench.page.keyboard.type(line);
  await workbench.page.keyboard.press('Enter');
}

step('the user clicks beside a line, and opens a Ray Debug Terminal', async () => {
  await workbench.clickBesideLine(10);
  await workbench.runCommand('Raydap: Ray Debug Terminal');
  await workbench.terminal().waitFor();
});

step('a program without Ray runs as in any terminal', async () => {
  await type('python -c "print(6 * 7)"');
  await workbench.terminal().getByText(/^42$/).waitFor();
});

step('a program of Ray stops', async () => {
  await type('python plan.py');
  await workbench
    .callStack('thread', /Planner \d · plan · .*break/s)
    .nth(1)
    .waitFor();
  await workbench.openScope('Locals');
  await workbench.variable('route').filter({ hasText: '[0, 10, 20]' }).waitFor();
  await workbench.screenshot('68-debug-terminal');
});

step('the actors are continued, and the session ends with the program', async () => {
  await workbench.runCommand('Raydap: Continue All');
  await workbench.terminal().getByText('result: 60').waitFor();
  await toolbar().waitFor({ state: 'hidden' });
});

step('a terminal from the list of profiles debugs, too', async () => {
  await workbench.runCommand('Create New Terminal (With Profile)');
  await workbench.choose('Ray Debug Terminal');
  await workbench.page.locator('.terminal-tabs-entry').nth(1).waitFor();
  await type('python plan.py');
  await toolbar().waitFor();
  await workbench
    .callStack('thread', /Planner \d · plan · .*break/s)
    .nth(1)
    .waitFor();
  await workbench.runCommand('Raydap: Continue All');
  await workbench.terminal().getByText('result: 60').waitFor();
  await toolbar().waitFor({ state: 'hidden' });
});
