/** Tests: when the language server is started, and how often an interpreter is checked. */

import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, beforeEach, test } from 'node:test';

import { LanguageServer } from '../../../src/language/language-server';
import { EventEmitter, events, extensions, resetVscode, seen, settings, workspace } from '../fake-vscode';

const folder = mkdtempSync(join(tmpdir(), 'raydap-'));
const record = join(folder, 'calls');

after(() => rmSync(folder, { recursive: true }));

beforeEach(() => {
  resetVscode();
  writeFileSync(record, '');
  extensions.getExtension = () => undefined;
});

/** Create an interpreter without raydap that records its calls, and return its path. */
function lacking(name: string): string {
  const path = join(folder, name);
  const answer = JSON.stringify({ version: [3, 12, 1], raydap: 'absent', reason: '' });
  writeFileSync(path, `#!/bin/sh\necho ${name} >> ${record}\necho '${answer}'\n`);
  chmodSync(path, 0o755);
  return path;
}

function calls(): string[] {
  return readFileSync(record, 'utf8').split('\n').filter(Boolean);
}

function open(...documents: object[]): void {
  workspace.textDocuments.push(...documents);
  documents.forEach((document) => {
    events.opened.fire(document);
  });
}

function python(name: string): object {
  return { languageId: 'python', uri: { scheme: 'file', path: `/${name}` } };
}

/** Wait for the starts that have been scheduled. */
async function idle(server: LanguageServer): Promise<void> {
  await (server as unknown as { last: Promise<void> }).last;
}

test('an interpreter without raydap is checked once, however many files are opened', async () => {
  settings.python = lacking('one');
  const server = new LanguageServer('/');
  await idle(server);
  assert.deepEqual(calls(), []);
  open(...Array.from({ length: 40 }, (_, index) => python(`${index}.py`)));
  await idle(server);
  open(python('late.py'));
  await idle(server);
  assert.deepEqual(calls(), ['one']);
  assert.match(seen[0] ?? '', /^log: The language server was not started: .*one cannot run raydap/);
  await server.dispose();
});

test('the interpreter is checked again after another one is selected, and when a debug session starts', async () => {
  const changed = new EventEmitter();
  let selected = lacking('first');
  const environments = {
    getActiveEnvironmentPath: () => ({ path: selected }),
    resolveEnvironment: () => Promise.resolve(undefined),
    onDidChangeActiveEnvironmentPath: changed.event,
  };
  extensions.getExtension = () => ({ activate: () => Promise.resolve({ environments }) });
  open(python('a.py'));
  const server = new LanguageServer('/');
  await idle(server);
  selected = lacking('second');
  changed.fire(undefined);
  await idle(server);
  events.started.fire({ type: 'python' });
  events.started.fire({ type: 'raydap' });
  await idle(server);
  assert.deepEqual(calls(), ['first', 'second', 'second']);
  await server.dispose();
});

test('the status item says why the server does not run, and its command tries again', async () => {
  settings.python = lacking('one');
  open(python('a.py'));
  const server = new LanguageServer('/');
  await idle(server);
  const { status } = server as unknown as { status: { detail: string; command: { command: string } } };
  assert.match(status.detail, /^not started: .*one cannot run raydap$/);
  assert.equal(status.command.command, 'raydap.restartLanguageServer');
  await server.commands.restartLanguageServer();
  assert.deepEqual(calls(), ['one', 'one']);
  await server.dispose();
});

test('the interpreter is that of the folder of the first Python file', async () => {
  const folders: unknown[] = [];
  const environments = {
    getActiveEnvironmentPath: (uri: unknown) => {
      folders.push(uri);
      return { path: lacking('one') };
    },
    resolveEnvironment: () => Promise.resolve(undefined),
    onDidChangeActiveEnvironmentPath: new EventEmitter().event,
  };
  extensions.getExtension = () => ({ activate: () => Promise.resolve({ environments }) });
  workspace.workspaceFolders = [{ uri: { fsPath: '/first' } }, { uri: { fsPath: '/second' } }];
  workspace.getWorkspaceFolder = () => ({ uri: { fsPath: '/second' } });
  open(python('a.py'));
  const server = new LanguageServer('/');
  await idle(server);
  assert.deepEqual(folders, [{ fsPath: '/second' }]);
  await server.dispose();
});
