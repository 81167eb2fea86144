/** Tests: the server for coding agents, which VS Code starts. */

import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, beforeEach, test } from 'node:test';

import { registerMcpServer, type ServerProvider } from '../../../src/language/mcp-provider';
import { mcpCommand } from '../../../src/process/command';
import { Disposable, EventEmitter, Uri, events, extensions, lm, resetVscode, settings } from '../fake-vscode';

const folder = mkdtempSync(join(tmpdir(), 'raydap-'));
const record = join(folder, 'calls');
const workspaceFolder = { name: 'app', index: 0, uri: Uri.file('/app') };

after(() => rmSync(folder, { recursive: true }));

let registered: [string, ServerProvider][] = [];
let disposables: { dispose(): unknown }[] = [];

beforeEach(() => {
  resetVscode();
  writeFileSync(record, '');
  extensions.getExtension = () => undefined;
  registered = [];
  lm.registerMcpServerDefinitionProvider = (id, provider) => {
    registered.push([id, provider as ServerProvider]);
    return new Disposable(() => undefined);
  };
});

afterEach(() => {
  disposables.forEach((each) => each.dispose());
  delete lm.registerMcpServerDefinitionProvider;
});

/** Create an interpreter that records its calls and reports this state of raydap. Return its path. */
function interpreter(raydap: 'ready' | 'absent', version = [3, 12, 1]): string {
  const path = join(folder, `${raydap}-${version.join('.')}`);
  const answer = JSON.stringify({ version, raydap, reason: '' });
  writeFileSync(path, `#!/bin/sh\necho called >> ${record}\necho '${answer}'\n`);
  chmodSync(path, 0o755);
  return path;
}

function provider(): ServerProvider {
  disposables = registerMcpServer('0.1.0', () => workspaceFolder as never);
  const [id, found] = registered[0] ?? assert.fail('nothing is registered');
  assert.equal(id, 'raydap.mcp');
  return found;
}

test('the server is listed without starting an interpreter', () => {
  settings.python = interpreter('ready');
  const servers = provider().provideMcpServerDefinitions();
  assert.deepEqual(
    servers.map(({ label, args }) => ({ label, args })),
    [{ label: 'raydap', args: ['-m', 'raydap', 'mcp'] }],
  );
  assert.equal(readFileSync(record, 'utf8'), '');
});

test('it runs in the interpreter of the debug sessions, and in the folder of the user', async () => {
  settings.python = interpreter('ready');
  const found = provider();
  const [server] = found.provideMcpServerDefinitions();
  assert.ok(server);
  const resolved = await found.resolveMcpServerDefinition(server);
  assert.equal(resolved, server);
  assert.equal(resolved.command, settings.python);
  assert.deepEqual(resolved.args, ['-P', '-m', 'raydap', 'mcp']);
  assert.equal(resolved.cwd, workspaceFolder.uri);
});

test('an interpreter without raydap is an error that names it', async () => {
  settings.python = interpreter('absent');
  const found = provider();
  const [server] = found.provideMcpServerDefinitions();
  assert.ok(server);
  await assert.rejects(found.resolveMcpServerDefinition(server), /absent-3\.12\.1 cannot run raydap \(lacksRaydap\)/);
});

test('Python 3.10 has no option against files of the folder', () => {
  assert.deepEqual(mcpCommand('python3', '3.10.9').args, ['-m', 'raydap', 'mcp']);
  assert.deepEqual(mcpCommand('python3', '3.11.0').args, ['-P', '-m', 'raydap', 'mcp']);
});

test('another interpreter changes the server', async () => {
  const selected = new EventEmitter();
  const environments = {
    getActiveEnvironmentPath: () => ({ path: interpreter('ready') }),
    resolveEnvironment: () => Promise.resolve(undefined),
    onDidChangeActiveEnvironmentPath: selected.event,
  };
  extensions.getExtension = () => ({ activate: () => Promise.resolve({ environments }) });
  const found = provider();
  let changes = 0;
  found.onDidChangeMcpServerDefinitions(() => (changes += 1));
  const [server] = found.provideMcpServerDefinitions();
  assert.ok(server);
  await found.resolveMcpServerDefinition(server);
  selected.fire(undefined);
  events.settings.fire({ affectsConfiguration: (section: string) => section === 'raydap.python' });
  events.settings.fire({ affectsConfiguration: () => false });
  assert.equal(changes, 2);
});

test('an older VS Code keeps working', () => {
  delete lm.registerMcpServerDefinitionProvider;
  assert.deepEqual(
    registerMcpServer('0.1.0', () => undefined),
    [],
  );
});
