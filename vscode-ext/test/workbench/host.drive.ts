/** The tests in test/host, which run inside VS Code and use its API. */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { given, Workbench } from './workbench';

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

test('all of them pass', { timeout: 120_000 }, async () => {
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
  assert.equal(await ended, 0);
});
