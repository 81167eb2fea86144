/** Tests: programs that the extension starts run from their first line to their last. */

import assert from 'node:assert/strict';

import * as vscode from 'vscode';

import { run, type Played } from './session';

const LAUNCH = { type: 'raydap', request: 'launch', name: 'Square', program: '${workspaceFolder}/square.py' };

/** Run square.py with these changes of the configuration, and check its result. */
async function squares(more: object = {}): Promise<void> {
  const { output, exitCode, stops } = await run({ ...LAUNCH, ...more });
  // A worker's output without a line break may precede it on the same line.
  assert.match(output, /result: 49$/m);
  assert.deepEqual({ exitCode, stops }, { exitCode: 0, stops: 1 });
}

/** Start a test session as the Python extension does (its debugLauncher.ts). Only the script that runs pytest differs. */
async function debugTests(): Promise<Played> {
  const settings = vscode.workspace.getConfiguration('raydap');
  await settings.update('debugTests', true, vscode.ConfigurationTarget.Workspace);
  try {
    return await run({
      type: 'debugpy',
      request: 'launch',
      name: 'Debug Unit Test',
      program: '${workspaceFolder}/run_tests.py',
      args: ['-q', '${workspaceFolder}/square_test.py'],
      cwd: '${workspaceFolder}',
      env: { RUN_TEST_IDS_PIPE: '/nowhere' },
      rules: [{ path: '/nowhere', include: false }],
      __vscodeTestSessionMarker: 'test-1',
    });
  } finally {
    await settings.update('debugTests', undefined, vscode.ConfigurationTarget.Workspace);
  }
}

export const programs = {
  'a test of the Test Explorer stops in its worker, in a session that the Python extension recognises': async () => {
    const { configuration, output, exitCode, stops } = await debugTests();
    assert.match(output, /1 passed/);
    assert.deepEqual({ exitCode, stops }, { exitCode: 0, stops: 1 });
    assert.equal(configuration.__vscodeTestSessionMarker, 'test-1');
  },

  'a program is launched, stops, goes on and ends': async () => squares(),
  'a program is submitted, stops, goes on and ends': async () =>
    squares({ submit: true, python: process.env.RAYDAP_TEST_PYTHON }),
};
