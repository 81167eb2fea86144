/** A user whose settings are all wrong at first. Each message leads to the next step, and in the end to a session. */

import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { after, before, step } from './drive';
import { given } from './installation';
import { Workbench } from './workbench';

const folder = mkdtempSync(join(tmpdir(), 'raydap-'));
let workbench: Workbench;

before(async () => {
  workbench = await Workbench.start({
    vsix: given('RAYDAP_TEST_VSIX'),
    settings: {
      'raydap.python': withoutPackages(),
      'raydap.dashboard': `http://127.0.0.1:${await closedPort()}`,
    },
  });
  await workbench.openAt('train.py');
});

after(async () => {
  await workbench.end('errors-end');
  rmSync(folder, { recursive: true });
});

/** Create a Python that has only its standard library, and return its path. */
function withoutPackages(): string {
  const path = join(folder, 'python');
  writeFileSync(path, `#!/bin/sh\nexec '${given('RAYDAP_TEST_PYTHON')}' -I -S "$@"\n`);
  chmodSync(path, 0o755);
  return path;
}

/** Create an interpreter that reports Python 3.9, and return its path. */
function tooOld(): string {
  const path = join(folder, 'python3.9');
  writeFileSync(path, `#!/bin/sh\necho '{"version": [3, 9, 2], "raydap": "absent", "reason": ""}'\n`);
  chmodSync(path, 0o755);
  return path;
}

/** Return a port on which no process listens: it was free a moment ago. */
async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  assert.ok(address !== null && typeof address === 'object');
  return address.port;
}

/** Wait for a message with this text. Fail unless it is the only one and has exactly these buttons. */
async function message(text: RegExp, ...buttons: string[]): Promise<void> {
  await workbench.message(text).waitFor();
  assert.equal(await workbench.message(/./).count(), 1);
  assert.equal(await workbench.page.locator('.monaco-dialog-box').count(), 0);
  const shown = workbench.message(text).locator('.monaco-button');
  assert.deepEqual((await shown.allTextContents()).sort(), [...buttons].sort());
}

async function press(button: string): Promise<void> {
  await workbench.page.locator('.notification-toast .monaco-button', { hasText: button }).click();
}

step('raydap is not installed', async () => {
  await workbench.runCommand('Raydap: Attach to Ray Cluster');
  await message(/raydap is not installed in Python 3/, 'Install raydap', 'Copy command', 'Choose interpreter');
  await workbench.screenshot('06-not-installed');
});

step('pip cannot install it', async () => {
  await press('Install raydap');
  await message(/pip exited with code 1, so raydap is not installed/, 'Copy command', 'Choose interpreter');
  // This Python has no pip. The terminal shows the command that was run.
  await workbench.page.locator('.terminal-wrapper.active').waitFor();
  await workbench.screenshot('06b-not-installable');
});

step('Python is too old', async () => {
  await press('Choose interpreter');
  await workbench.answer(tooOld());
  await message(/raydap needs Python 3\.10 or newer, but .* is Python 3\.9\.2/, 'Choose interpreter');
  await workbench.screenshot('07-too-old');
});

step('the cluster cannot be reached', async () => {
  await press('Choose interpreter');
  await workbench.answer(given('RAYDAP_TEST_PYTHON'));
  await message(/\[raydap 2002\]/, 'Change the dashboard URL', 'Show log');
  await workbench.screenshot('08-unreachable');
});

step('the right URL leads to the session', async () => {
  await press('Change the dashboard URL');
  await workbench.answer(given('RAYDAP_TEST_DASHBOARD'));
  await workbench.page.locator('.debug-toolbar').waitFor();
  assert.equal(await workbench.message(/./).count(), 0);
  await workbench.screenshot('09-session');
});
