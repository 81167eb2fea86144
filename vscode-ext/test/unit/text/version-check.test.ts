import assert from 'node:assert/strict';
import { test } from 'node:test';

import { PROTOCOL } from '../../../src/protocol/messages';
import { VersionCheck } from '../../../src/text/version-check';

/** Return the warnings after these answers to `initialize`. */
function warnings(bodies: readonly unknown[], hub?: string): string[] {
  const shown: string[] = [];
  const versions = new VersionCheck('0.5.0', (text) => shown.push(text));
  bodies.forEach((body) => versions.check(body, hub));
  return shown;
}

function answer(version: string, protocol: number): unknown {
  return { supportsConfigurationDoneRequest: true, raydap: { version, protocol } };
}

test('the same protocol causes no warning, whatever the versions are', () => {
  assert.deepEqual(warnings([answer('0.9.0', PROTOCOL)]), []);
});

test('for an older raydap the warning says how to upgrade it', () => {
  const text = 'is older than this extension (0.5.0): run "pip install --upgrade raydap" in the Python that runs it.';
  assert.deepEqual(warnings([answer('0.4.0', PROTOCOL - 1)]), [`raydap 0.4.0 ${text}`]);
  // Old versions of raydap do not send the field.
  assert.deepEqual(warnings([{ supportsConfigurationDoneRequest: true }]), [`raydap ${text}`]);
  assert.deepEqual(warnings([undefined]), [`raydap ${text}`]);
});

test('for an older hub the warning says to upgrade it where it runs', () => {
  assert.deepEqual(warnings([answer('0.4.0', 0)], 'ws://a:1/dap'), [
    'raydap 0.4.0 of the hub ws://a:1/dap is older than this extension (0.5.0): ' +
      'run "pip install --upgrade raydap" where the hub runs, and restart the hub.',
  ]);
});

test('for an older extension the warning says to install another one', () => {
  assert.deepEqual(warnings([answer('0.6.0', PROTOCOL + 1)]), [
    'This extension (0.5.0) is older than raydap 0.6.0: install the extension of the same version.',
  ]);
});

test('each mismatch is reported once', () => {
  const old = answer('0.4.0', 0);
  assert.equal(warnings([old, old, answer('0.6.0', PROTOCOL + 1), old]).length, 2);
});
