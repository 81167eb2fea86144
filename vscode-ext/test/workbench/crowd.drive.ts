/** Five hundred workers, all of them fakes in one process: the view keeps up, and the window stays usable. */

import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before } from 'node:test';

import { RayView } from './view';
import { given, step, Workbench } from './workbench';

const MANY = 500;
const RECORDING = '../tests/golden/debugpy_session.jsonl';

let workbench: Workbench;
let view: RayView;
let fakes: ChildProcess;
let dashboard: string;

before(async () => {
  workbench = await Workbench.start({
    vsix: given('RAYDAP_TEST_VSIX'),
    settings: { 'raydap.python': given('RAYDAP_TEST_PYTHON') },
  });
  // They stop in a file that is open, as workers of a user do.
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

/** Remembers the longest time for which the window did nothing else, in milliseconds. */
async function watchWindow(): Promise<void> {
  await workbench.page.evaluate(() => {
    const state = window as unknown as { longest: number };
    let last = performance.now();
    state.longest = 0;
    setInterval(() => {
      const now = performance.now();
      state.longest = Math.max(state.longest, now - last);
      last = now;
    }, 10);
  });
}

async function tellLongest(what: string): Promise<void> {
  const longest = await workbench.page.evaluate(() => {
    const state = window as unknown as { longest: number };
    const { longest } = state;
    state.longest = 0;
    return Math.round(longest);
  });
  console.log(`${what}: the window was busy for ${longest} ms at the longest`);
}

step('they are listed', async () => {
  await view.show();
  await watchWindow();
  await view.add(dashboard);
  await view.cluster(`${MANY} paused`).waitFor();
  await tellLongest('listed');
  await workbench.screenshot('40-crowd-paused');
});

step('all are attached, and stop', async () => {
  await view.press(view.cluster(), 'Debug This Cluster', () => view.status(`Ray: ${MANY} stopped`));
  await tellLongest('attached');
  const counted = performance.now();
  await view.cluster(`${MANY} stopped`).waitFor();
  console.log(`the view was ${Math.round(performance.now() - counted)} ms later than the status bar`);
  await workbench.page
    .locator('.codelens-decoration', { hasText: `${MANY} stopped here` })
    .first()
    .waitFor();
  await workbench.screenshot('41-crowd-stopped');
});

step('all are let go', async () => {
  await view.stopDebugging();
  await view.cluster(`${MANY} paused`).waitFor();
  await tellLongest('left');
});
