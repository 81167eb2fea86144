/**
 * Many fake workers in one process. The views stay up to date, and the window stays usable. The drive prints how long
 * each action keeps the window busy (docs/performance.md).
 */

import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

import { RayView } from './view';
import { WindowWatch } from './window-watch';
import { after, before, step } from './drive';
import { given } from './installation';
import { Workbench } from './workbench';

/** The number of workers. `make check` sets 500, which keeps a processor busy for minutes. */
const MANY = Number(process.env.RAYDAP_TEST_CROWD ?? 100);
const RECORDING = '../tests/golden/debugpy_session.jsonl';

let workbench: Workbench;
let view: RayView;
let fakes: ChildProcess;
let dashboard: string;
let watch: WindowWatch;

before(async () => {
  workbench = await Workbench.start({
    vsix: given('RAYDAP_TEST_VSIX'),
    settings: { 'raydap.python': given('RAYDAP_TEST_PYTHON') },
  });
  // The fakes stop in a file that is open, as a user's workers do.
  const args = ['-m', 'bench.fake_debugpy', String(MANY), RECORDING, join(workbench.project, 'crowd.py')];
  fakes = spawn(given('RAYDAP_TEST_PYTHON'), args, {
    env: { ...process.env, PYTHONPATH: '../tests:../docs/examples' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  dashboard = await addressOf(fakes);
  view = new RayView(workbench);
  await workbench.openAt('crowd.py');
});

after(async () => {
  await workbench.end('crowd-end');
  fakes.kill();
});

/** Return the URL of the fake dashboard, which the fakes print. */
async function addressOf({ stdout }: ChildProcess): Promise<string> {
  assert.ok(stdout !== null);
  const lines = createInterface({ input: stdout });
  for await (const line of lines) {
    const url = /dashboard at (\S+) end/.exec(line)?.[1];
    if (url !== undefined) {
      return url;
    }
  }
  throw new Error('the fakes have ended');
}

/** Wait until the label at the end of the line counts all workers. VS Code must read each worker's stack for that. */
async function allShown(): Promise<void> {
  await workbench.lineLabels(new RegExp(`^${MANY} workers`));
}

/** Start a session of the cluster, and wait until all workers are stopped. */
async function attach(): Promise<void> {
  await view.press(view.cluster(), 'Debug This Cluster', () => view.status(`Ray: ${MANY} stopped`));
  await view.cluster(`${MANY} stopped`).waitFor();
}

step('the Python file has activated the extension', async () => {
  await workbench.runCommand('Developer: Show Running Extensions');
  const row = workbench.page.locator('.runtime-extensions-editor .monaco-list-row', { hasText: 'raydap' });
  const time = row.locator('.activation-time').filter({ hasText: /\d+ms/ });
  await time.waitFor();
  console.log(await time.textContent());
  await workbench.screenshot('40-activation');
  await workbench.page.keyboard.press('Escape');
  await row.waitFor({ state: 'hidden' });
});

step('they are listed', async () => {
  await view.show();
  watch = await WindowWatch.start(workbench.page, workbench.browser);
  await watch.during('list', async () => {
    await view.add(dashboard);
    await view.cluster(`${MANY} paused`).waitFor();
  });
  await workbench.screenshot('40-crowd-paused');
});

step('all are attached, and stop', async () => {
  await watch.during('attach', async () => {
    await attach();
    await allShown();
  });
  await workbench.page
    .locator('.codelens-decoration', { hasText: `${MANY} stopped here` })
    .first()
    .waitFor();
  await workbench.screenshot('41-crowd-stopped');
});

step('their stacks are one row, and a picture', async () => {
  await watch.during('Stacks view', async () => {
    await workbench.runCommand('Focus on Stacks View');
    await view.row(/work \(crowd\.py:6\)/).waitFor();
  });
  await watch.during('picture of the stacks', async () => {
    await workbench.runCommand('Raydap: Show Stacks as a Picture');
    const page = workbench.page.frameLocator('iframe.webview.ready').frameLocator('#active-frame');
    await page.locator('svg g').first().waitFor();
  });
  await workbench.openFile('crowd.py');
});

step('a filter shows some of them', async () => {
  const filtered = workbench.page.locator('.pane-header', { hasText: 'state:stopped' });
  await watch.during('filter', async () => {
    await workbench.runCommand('Raydap: Filter Workers');
    await view.answer('Filter Workers', 'state:stopped');
    await filtered.waitFor();
  });
  await watch.during('show all again', async () => {
    await workbench.runCommand('Raydap: Show All Workers');
    await filtered.waitFor({ state: 'hidden' });
  });
});

step('all go on, and stop again', async () => {
  await watch.during('Continue All', async () => {
    await workbench.runCommand('Raydap: Continue All');
    await view.status(`Ray: ${MANY} stopped`);
  });
});

step('the call stack has all of them', async () => {
  await watch.during('show the call stack', async () => {
    await workbench.runCommand('View: Show Run and Debug');
    await workbench.callStack('thread').first().waitFor();
  });
  await workbench.screenshot('42-crowd-call-stack');
  await watch.during('select another stop', async () => {
    await workbench.callStack('thread').nth(4).click();
  });
  await watch.during('step one', async () => {
    await workbench.page.keyboard.press('F10');
  });
  await watch.during('Continue All, with the call stack', async () => {
    await workbench.runCommand('Raydap: Continue All');
    await view.status(`Ray: ${MANY} stopped`);
  });
  await watch.during('Step All', async () => {
    await workbench.runCommand('Raydap: Step All at This Line');
  });
});

step('a barrier holds all until the last one comes', async () => {
  await workbench.goToLine(6);
  await workbench.runCommand('Debug: Add Conditional Breakpoint');
  await workbench.page.locator('.breakpoint-widget select').first().selectOption({ label: 'Hit Count' });
  await workbench.page.locator('.breakpoint-widget .monaco-editor').click();
  await workbench.page.locator('.breakpoint-widget .monaco-editor.focused').waitFor();
  await workbench.page.keyboard.type('all');
  await workbench.page.keyboard.press('Enter');
  await workbench.breakpoints().first().waitFor();
  await watch.during('Continue All to a barrier', async () => {
    await workbench.runCommand('Raydap: Continue All');
    await view.status(`Ray: ${MANY} stopped`);
  });
});

step('one expression is compared in all', async () => {
  await watch.during('Evaluate in All', async () => {
    await workbench.runCommand('Raydap: Evaluate in All');
    await view.answer('Evaluate in All', 'turn');
    await workbench.page.locator('.tab', { hasText: 'turn' }).waitFor();
  });
});

step('all are let go', async () => {
  await watch.during('leave', () => view.stopDebugging());
  await view.show();
  await view.cluster(`${MANY} paused`).waitFor();
});

step('all are let go while VS Code still asks for their stacks', async () => {
  await attach();
  await workbench.runCommand('View: Show Run and Debug');
  await workbench.callStack('thread').first().waitFor();
  await watch.settle();
  await workbench.openFile('crowd.py');
  await workbench.runCommand('Raydap: Continue All');
  await workbench.lineLabels(/^[1-4]?\d?\d workers/);
  await watch.during('leave in the middle', () => view.stopDebugging());
});
