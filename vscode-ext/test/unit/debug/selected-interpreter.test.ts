import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';

import { findSelectedInterpreter } from '../../../src/debug/selected-interpreter';
import { extensions, resetVscode, settings } from '../fake-vscode';

/**
 * Install a Python extension that has selected this interpreter. `resolves` is whether it can resolve its environment.
 */
function selected(path: string, resolves: boolean): void {
  const executable = { uri: { fsPath: path } };
  const environments = {
    getActiveEnvironmentPath: () => ({ path }),
    resolveEnvironment: () => Promise.resolve(resolves ? { executable } : undefined),
  };
  extensions.getExtension = () => ({ activate: () => Promise.resolve({ environments }) });
}

beforeEach(() => {
  resetVscode();
  extensions.getExtension = () => undefined;
});

test('a setting with an unset variable is reported, and no other Python is used', async () => {
  settings.python = '${env:RAYDAP_HAS_NO_SUCH}/bin/python';
  const finding = await findSelectedInterpreter(undefined);
  assert.equal(finding.kind, 'broken');
  assert.equal(finding.python, settings.python);
  assert.match(finding.reason, /RAYDAP_HAS_NO_SUCH is not set/);
});

test('~ in the setting stands for the home folder', async () => {
  settings.python = '~/raydap-has-no-such/python';
  const finding = await findSelectedInterpreter(undefined);
  assert.doesNotMatch(finding.python, /~/);
  assert.equal(finding.kind, 'broken');
});

test('a selected interpreter that the Python extension cannot resolve is reported, not replaced by one on the PATH', async () => {
  selected('/raydap-has-no-such/python', false);
  assert.equal((await findSelectedInterpreter(undefined)).python, '/raydap-has-no-such/python');
});
