import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';

import { TestConfigurations } from '../../../src/debug/test-configurations';
import { resetVscode, settings } from '../fake-vscode';

/** A test session as the Python extension starts it, after it has resolved the configuration of launch.json. */
const TESTS = {
  type: 'debugpy',
  request: 'launch',
  name: 'Debug Unit Test',
  program: '/extension/python_files/vscode_pytest/run_pytest_script.py',
  args: ['--rootdir', '/home/project'],
  cwd: '/home/project',
  env: { TEST_RUN_PIPE: '/tmp/run', RUN_TEST_IDS_PIPE: '/tmp/ids' },
  python: '/venv/bin/python',
  console: 'internalConsole',
  justMyCode: false,
  showReturnValue: true,
  subProcess: true,
  stopOnEntry: false,
  redirectOutput: true,
  debugStdLib: false,
  rules: [{ path: '/extension/python_files', include: false }],
  purpose: [],
  __vscodeTestSessionMarker: 'test-1',
};

beforeEach(() => {
  resetVscode();
  settings.debugTests = true;
});

test('a test session becomes one of raydap, with the keys that raydap supports', () => {
  const { rules, purpose, debugStdLib, redirectOutput, stopOnEntry, ...supported } = TESTS;
  assert.ok(rules.length > 0 && purpose.length === 0 && !debugStdLib && redirectOutput && !stopOnEntry);
  const resolved = new TestConfigurations().resolveDebugConfiguration(undefined, TESTS);
  assert.deepEqual(resolved, { ...supported, type: 'raydap' });
});

test('other sessions of the Python Debugger, runs without debugging, and those without the setting stay', () => {
  const provider = new TestConfigurations();
  for (const given of [
    { ...TESTS, env: undefined },
    { ...TESTS, env: { A: '1' } },
    { ...TESTS, noDebug: true },
  ]) {
    assert.equal(provider.resolveDebugConfiguration(undefined, given), given);
  }
  settings.debugTests = false;
  assert.equal(provider.resolveDebugConfiguration(undefined, TESTS), TESTS);
});
