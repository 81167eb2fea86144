/** Tests: the Waits view and the Doctor view. `raydap doctor` is a script. */

import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';

import type { AdapterFactory } from '../../../src/debug/adapter-factory';
import { doctorCommand } from '../../../src/process/command';
import { DoctorTree } from '../../../src/views/doctor-tree';
import { WaitsTree } from '../../../src/views/waits-tree';
import { whyCommands } from '../../../src/views/why-commands';
import { worker } from '../example';
import { begin, FakeSession } from '../fake-sessions';
import { settled } from '../fake-source';
import { debug, executed, resetVscode, seen, settings, SourceBreakpoint } from '../fake-vscode';

const folder = mkdtempSync(join(tmpdir(), 'raydap-doctor-'));
const python = join(folder, 'python');

/** A finding as `raydap doctor` prints it. */
const FINDING = {
  check: 'breakpoints',
  severity: 'warning',
  what: 'train.py:5 does not stop.',
  why: 'No agent.',
  what_to_do: 'raydap run train.py',
  subject: 'train.py:5',
};

/** Let the Python of the tests print this instead of the findings, and write its arguments into the file `args`. */
function printing(output: string, script = ''): void {
  const probe = '{"version": [3, 12, 1], "raydap": "ready", "reason": ""}';
  writeFileSync(
    python,
    `#!/bin/sh\nif [ "$1" = -c ]; then echo '${probe}'; exit; fi\necho "$@" > ${folder}/args\n${script}\n` +
      `cat <<'END'\n${output}\nEND\n`,
  );
  chmodSync(python, 0o755);
}

const adapters = {
  cwd: folder,
  doctor: (path: string, address: string, breakpoints: readonly string[]) =>
    Promise.resolve(doctorCommand(path, address, breakpoints)),
  askToken: (address: string) => Promise.resolve(void seen.push(`token of ${address}`)),
} as unknown as AdapterFactory;

const ALL = { selectOf: () => undefined };

async function views(...sessions: FakeSession[]): Promise<{
  readonly waits: WaitsTree;
  readonly doctor: DoctorTree;
  readonly run: (name: string, ...args: unknown[]) => Promise<unknown>;
}> {
  const known = await begin(...sessions);
  const [waits, doctor] = [new WaitsTree(ALL), new DoctorTree(known, adapters)];
  const commands = whyCommands(known, waits, doctor);
  const run = async (name: string, ...args: unknown[]): Promise<unknown> => {
    return await commands[name]?.(...(args as never[]));
  };
  return { waits, doctor, run };
}

function session(id: string, answer: () => unknown): FakeSession {
  return new FakeSession(id, [worker(1)], undefined, undefined, { 'raydap/waits': answer });
}

function graphOf(text: string): object {
  const rest = { nodes: [], deadlocks: [], collectives: [], unread: [], idle: 0, problem: '' };
  return { ...rest, lines: [{ depth: 0, text, nodes: [] }] };
}

beforeEach(() => {
  resetVscode();
  settings.python = python;
  printing(JSON.stringify([FINDING]));
});
afterEach(() => {
  rmSync(join(folder, 'args'), { force: true });
});
process.on('exit', () => {
  rmSync(folder, { recursive: true });
});

test('the waits are read only when the user asks, and the latest answer is shown', async () => {
  const pending: ((graph: object) => void)[] = [];
  const one = session('one', () => new Promise((resolve) => void pending.push(resolve)));
  const { waits, run } = await views(one);
  assert.deepEqual([one.asked, waits.getChildren()], [[], []]);
  const both = [run('showWaits'), run('showWaits')];
  await settled();
  pending[1]?.(graphOf('new: blocked'));
  pending[0]?.(graphOf('old: blocked'));
  await Promise.all(both);
  assert.deepEqual(
    waits.getChildren().map(({ label }) => label),
    ['new'],
  );
  assert.match(waits.view.description ?? '', /^one, /);
  assert.deepEqual(one.asked, ['raydap/waits {}', 'raydap/waits {}']);
});

test('without a cluster, the command for waits says what to do', async () => {
  const { run } = await views();
  await assert.rejects(run('showWaits'), /Add a cluster/);
});

test('the doctor checks the breakpoints of VS Code, and a finding leads to its line', async () => {
  const file = join(folder, 'train.py');
  writeFileSync(file, 'pass\n');
  debug.breakpoints.push(new SourceBreakpoint(file, 4), new SourceBreakpoint(join(folder, 'gone.py'), 4));
  settings.dashboard = 'http://10.0.0.7:8265';
  const { doctor, run } = await views();
  await run('runDoctor');
  const [row] = doctor.getChildren();
  assert.equal(row?.label, FINDING.what);
  assert.deepEqual(row.frame, { path: file, line: 5 });
  assert.equal(doctor.getTreeItem(row).command?.command, 'vscode.open');
  const args = readFileSync(join(folder, 'args'), 'utf8').trim();
  assert.equal(args, `-m raydap doctor --json --dashboard http://10.0.0.7:8265 --break ${file}:5`);
});

test('a second run ends the first one, and only its findings are shown', async () => {
  const { doctor, run } = await views();
  printing('[]', 'exec sleep 60');
  const first = run('runDoctor');
  while (!existsSync(join(folder, 'args'))) {
    await settled();
  }
  printing(JSON.stringify([FINDING]));
  await run('runDoctor');
  await first;
  assert.equal(doctor.getChildren().length, 1);
});

test('a doctor that fails is reported with its last line', async () => {
  const { run } = await views();
  printing('no JSON', 'echo "Ray is not installed." >&2');
  await assert.rejects(run('runDoctor'), { message: 'raydap doctor failed: Ray is not installed.' });
});

test('the doctor cannot reach a cluster behind a hub', async () => {
  const configuration = { request: 'attach', __hub: 'ws://h:1/dap' };
  const { run } = await views(new FakeSession('one', [worker(1)], configuration));
  await assert.rejects(run('runDoctor'), /behind a hub/);
});

test('a fix is prepared, and only the user applies it', async () => {
  const { run } = await views();
  const row = { fix: 'kill 7\nrm -r /', fixPlace: 'terminal' };
  await run('applyFix', row);
  assert.deepEqual(seen, ['terminal: raydap doctor', 'type in raydap doctor: kill 7 rm -r /']);
  await run('applyFix', { fix: '"reach": "any"', fixPlace: 'configuration' });
  assert.equal(seen[2], 'clipboard: "reach": "any"');
  assert.deepEqual(executed, ['workbench.action.debug.configure']);
  await run('applyFix', { fix: 'x', fixPlace: 'address' });
  assert.equal(executed[1], 'workbench.action.openSettings raydap.dashboard');
  await run('copyFix', { fix: 'x' });
  assert.ok(seen.includes('clipboard: x'));
});

test('of several clusters, that of the active session is read', async () => {
  const all = ['one', 'two'].map((id) => session(id, () => graphOf(`${id}: blocked`)));
  const { waits, run } = await views(...all);
  Object.assign(debug, { activeDebugSession: all[1] });
  await run('showWaits');
  assert.equal(waits.getChildren()[0]?.label, 'two');
});
