import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';

import type * as vscode from 'vscode';

import { DebugTerminal } from '../../../src/debug/debug-terminal';
import { debug, resetVscode, seen, settings, started } from '../fake-vscode';

/** A Python that answers raydap's check and `raydap prepare --json`. */
const PYTHON = `#!/bin/sh
case "$*" in
  *prepare*) echo "{\\"driver\\": {\\"PYTHONPATH\\": \\"/at_start:$PYTHONPATH\\"}}" ;;
  *) echo '{"version": [3, 12, 1], "raydap": "ready", "reason": ""}' ;;
esac
`;

interface Options {
  readonly env: Readonly<Record<string, string>>;
  readonly isTransient: boolean;
}

let terminal: DebugTerminal;
let problems: string[];
let path: string;
const begin = debug.startDebugging;

beforeEach(async () => {
  resetVscode();
  problems = [];
  settings.python = join(mkdtempSync(join(tmpdir(), 'raydap-test-')), 'python');
  writeFileSync(settings.python as string, PYTHON);
  chmodSync(settings.python as string, 0o755);
  settings.linux = { PYTHONPATH: '/theirs' };
  const dialog = { show: ({ text }: { text: string }) => problems.push(text) };
  terminal = new DebugTerminal(dialog, () => undefined);
  path = (await environment()).RAYDAP_TERMINAL ?? '';
});

afterEach(() => {
  debug.startDebugging = begin;
  terminal.dispose();
});

async function environment(): Promise<Options['env']> {
  const profile = (await terminal.provideTerminalProfile()) as unknown as { options: Options };
  assert.ok(profile.options.isTransient);
  return profile.options.env;
}

/** Connect as a program that has joined this cluster. */
function program(cluster: string, name = 'train.py'): Socket {
  const socket = connect(path);
  socket.write(`${JSON.stringify({ pid: 1, program: `/home/${name}`, cluster })}\n`);
  return socket;
}

/** Wait until as many sessions were started. */
async function begun(count: number): Promise<void> {
  while (started.length < count) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}

async function said(text: string): Promise<void> {
  while (!seen.includes(text)) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Act as VS Code for the last session that was started. Return the tracker of its messages. */
function tracked(): vscode.DebugAdapterTracker {
  const configuration = started.at(-1) as vscode.DebugConfiguration;
  const tracker = terminal.createDebugAdapterTracker({
    name: configuration.name,
    configuration,
  } as vscode.DebugSession);
  assert.ok(tracker !== undefined);
  return tracker;
}

const CONFIGURED = { type: 'response', success: true, command: 'configurationDone' };

test('the programs of a terminal are prepared, with the PYTHONPATH of the settings', async () => {
  assert.equal((await environment()).PYTHONPATH, '/at_start:/theirs');
  await terminal.open();
  assert.deepEqual(seen, ['terminal: Ray Debug Terminal']);
});

test('without raydap there is a message, and no terminal', async () => {
  settings.python = '/raydap-has-no-such/python';
  assert.equal(await terminal.provideTerminalProfile(), undefined);
  await terminal.open();
  assert.equal(problems.length, 2);
  assert.deepEqual(seen, []);
});

test('a program gets a session with its cluster, and continues when the breakpoints are set', async () => {
  const first = program('http://127.0.0.1:8265');
  await begun(1);
  const { name, request, dashboard } = started[0] as vscode.DebugConfiguration;
  assert.deepEqual([name, request, dashboard], ['Ray: train.py', 'attach', 'http://127.0.0.1:8265']);
  const tracker = tracked();
  assert.equal(first.bytesRead, 0);
  tracker.onDidSendMessage?.(CONFIGURED);
  await once(first, 'data');
  const second = program('http://127.0.0.1:8265', 'other.py');
  await once(second, 'data');
  assert.equal(started.length, 1);
  first.destroy();
  second.destroy();
  await said('stop: Ray: train.py');
});

test('a program of another cluster, and one after the last, get a session of their own', async () => {
  const first = program('http://127.0.0.1:8265');
  await begun(1);
  tracked().onDidSendMessage?.(CONFIGURED);
  program('http://127.0.0.1:8266', 'other.py');
  await begun(2);
  first.destroy();
  await said('stop: Ray: train.py');
  program('http://127.0.0.1:8265', 'again.py');
  await begun(3);
  assert.deepEqual(
    started.map((each) => (each as vscode.DebugConfiguration).name),
    ['Ray: train.py', 'Ray: other.py', 'Ray: again.py'],
  );
});

test('a program that ends while its session starts ends the session, too', async () => {
  const short = program('auto');
  await begun(1);
  short.destroy();
  await once(short, 'close');
  const tracker = tracked();
  const again = program('auto', 'again.py');
  await begun(2);
  tracker.onDidSendMessage?.(CONFIGURED);
  await said('stop: Ray: train.py');
  again.destroy();
});

test('a program continues if its session is refused or ends', async () => {
  debug.startDebugging = () => Promise.resolve(false);
  await once(program('auto'), 'data');
  debug.startDebugging = begin;
  const other = program('auto');
  await begun(1);
  tracked().onWillStopSession?.();
  await once(other, 'data');
});

test('the sessions of the user are left alone', () => {
  const session = { configuration: { type: 'raydap' } } as unknown as vscode.DebugSession;
  assert.equal(terminal.createDebugAdapterTracker(session), undefined);
});

for (const line of ['nonsense', 'null', '{"program": 1, "cluster": "http://127.0.0.1:8265"}']) {
  test(`a line that is no request is refused: ${line}`, async () => {
    const socket = connect(path);
    socket.write(`${line}\n`);
    await once(socket.resume(), 'close');
    assert.equal(started.length, 0);
  });
}
