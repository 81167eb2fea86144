/** The tests in test/host, which run inside VS Code and use its API. */

import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';

import { after, before, step } from './drive';
import { given } from './installation';
import { Workbench } from './workbench';

let workbench: Workbench;

before(async () => {
  workbench = await Workbench.start({
    settings: { 'raydap.python': given('RAYDAP_TEST_PYTHON'), 'raydap.dashboard': given('RAYDAP_TEST_DASHBOARD') },
    flags: ['--vscode-option=enable-smoke-test-driver'],
  });
});

after(async () => {
  await workbench.end('host-end');
});

step('all of them pass', async () => {
  const { page, url } = workbench;
  await page.exposeFunction('codeAutomationLog', (_level: string, words: unknown[]) => {
    console.log(...words);
  });
  let exit: (code: number) => void = () => undefined;
  const ended = new Promise<number>((resolve) => {
    exit = resolve;
  });
  await page.exposeFunction('codeAutomationExit', exit);
  // The browser reads files on the server's disk at this address.
  const extension = url.replace('http:', 'vscode-remote:') + process.cwd();
  const payload = [
    ['extensionDevelopmentPath', extension],
    ['extensionTestsPath', `${extension}/out/host/index.js`],
  ];
  await workbench.open({ payload: JSON.stringify(payload) });
  assert.equal(await Promise.race([ended, setTimeout(120_000, 'still running', { ref: false })]), 0);
});
