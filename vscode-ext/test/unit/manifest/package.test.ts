/** Tests: what the package contains and when it is loaded. */

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as {
  readonly activationEvents: readonly string[];
  readonly capabilities: Readonly<Record<'untrustedWorkspaces' | 'virtualWorkspaces', { readonly supported: boolean }>>;
  readonly contributes: { readonly configuration: { readonly properties: Readonly<Record<string, unknown>> } };
};

test('the README explains each setting', () => {
  const explained = [...readFileSync('README.md', 'utf8').matchAll(/^\| `(raydap\.[\w.]+)`/gm)].map(([, name]) => name);
  assert.deepEqual(explained, Object.keys(manifest.contributes.configuration.properties));
});

test('VS Code offers Ray for a new launch.json before any Python file is open', () => {
  assert.ok(manifest.activationEvents.includes('onDebugInitialConfigurations'));
});

test('only types are imported from the language client at activation, because loading it takes most of the time', () => {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
  const lines = files.flatMap((name) => readFileSync(`src/${name}`, 'utf8').split('\n'));
  const imports = lines.filter((line) => line.startsWith('import ') && line.includes('vscode-languageclient'));
  assert.ok(imports.length > 0);
  assert.deepEqual(
    imports.filter((line) => !line.startsWith('import type ')),
    [],
  );
});

test('VS Code switches the extension off where it may run no program, or where files are not on a disk', () => {
  const { untrustedWorkspaces, virtualWorkspaces } = manifest.capabilities;
  assert.deepEqual([untrustedWorkspaces.supported, virtualWorkspaces.supported], [false, false]);
});
