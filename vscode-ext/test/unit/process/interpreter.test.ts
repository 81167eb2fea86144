import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';

import type { InterpreterFinding } from '../../../src/model/interpreter-finding';
import { findInterpreter, probeInterpreter, type Probe } from '../../../src/process/interpreter';

const folder = mkdtempSync(join(tmpdir(), 'raydap-'));
after(() => {
  rmSync(folder, { recursive: true });
});

/** Create an interpreter that runs this shell script instead of Python, and return its path. */
function interpreter(name: string, script: string): string {
  const path = join(folder, name);
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  return path;
}

function saying(name: string, version: number[], raydap: 'ready' | 'absent' | 'broken', reason = ''): string {
  return interpreter(name, `echo '${JSON.stringify({ version, raydap, reason })}'`);
}

function ready(python: string): InterpreterFinding {
  return { kind: 'ready', python, version: '3.11.7' };
}

/** Return a probe that finds only these interpreters. `asked` are the interpreters that were probed. */
function knowing(...findings: InterpreterFinding[]): { probe: Probe; asked: string[] } {
  const asked: string[] = [];
  const probe: Probe = (python) => {
    asked.push(python);
    const known = findings.find((finding) => finding.python === python);
    return Promise.resolve(known ?? { kind: 'broken', python, reason: 'it does not exist' });
  };
  return { probe, asked };
}

test('the setting precedes the selected interpreter, and no other interpreter is checked', async () => {
  const { probe, asked } = knowing(ready('/selected'), ready('python3'));
  const finding = await findInterpreter({ setting: ' /set ', active: '/selected' }, probe);
  assert.deepEqual(finding, { kind: 'broken', python: '/set', reason: 'it does not exist' });
  assert.deepEqual(asked, ['/set']);
});

test('the selected interpreter precedes those on the PATH', async () => {
  const { probe, asked } = knowing(ready('/selected'), ready('python3'));
  assert.deepEqual(await findInterpreter({ setting: '', active: '/selected' }, probe), ready('/selected'));
  assert.deepEqual(asked, ['/selected']);
});

test('the first interpreter on the PATH that is ready is used', async () => {
  const { probe } = knowing({ kind: 'tooOld', python: 'python3', version: '3.9.2' }, ready('python'));
  assert.deepEqual(await findInterpreter({}, probe), ready('python'));
});

test('if no interpreter on the PATH is ready, the first that runs is reported', async () => {
  const old: InterpreterFinding = { kind: 'tooOld', python: 'python', version: '2.7.18' };
  assert.deepEqual(await findInterpreter({}, knowing(old).probe), old);
});

test('a PATH without a Python is reported', async () => {
  const finding = await findInterpreter({}, knowing().probe);
  assert.equal(finding.kind, 'broken');
  assert.match(finding.reason, /no working Python is on the PATH/);
});

test('an interpreter with raydap is ready, from its oldest version on', async () => {
  const python = saying('good', [3, 10, 0], 'ready');
  assert.deepEqual(await probeInterpreter(python), { kind: 'ready', python, version: '3.10.0' });
});

test('an interpreter without raydap is reported as such', async () => {
  const python = saying('lacking', [3, 13, 1], 'absent');
  assert.deepEqual(await probeInterpreter(python), { kind: 'lacksRaydap', python, version: '3.13.1' });
});

test('the reason why raydap cannot be imported is reported', async () => {
  const python = saying('incomplete', [3, 12, 0], 'broken', 'No module named msgspec');
  const finding = { kind: 'brokenRaydap', python, version: '3.12.0', reason: 'No module named msgspec' };
  assert.deepEqual(await probeInterpreter(python), finding);
});

test('a real Python is checked for raydap', async () => {
  const package_ = join(folder, 'raydap', 'cli');
  const before = process.env.PYTHONPATH;
  process.env.PYTHONPATH = folder;
  try {
    assert.equal((await probeInterpreter('python3')).kind, 'lacksRaydap');
    mkdirSync(package_, { recursive: true });
    writeFileSync(join(package_, 'adapter.py'), 'import of_nobody');
    const broken = await probeInterpreter('python3');
    assert.equal(broken.kind, 'brokenRaydap');
    assert.equal(broken.reason, "No module named 'of_nobody'");
    writeFileSync(join(package_, 'adapter.py'), 'whole = True');
    assert.equal((await probeInterpreter('python3')).kind, 'ready');
  } finally {
    process.env.PYTHONPATH = before;
  }
});

test('a Python that is too old is reported as too old, whatever is installed in it', async () => {
  for (const [name, version] of Object.entries({ a: [3, 9, 25], b: [2, 7, 18] })) {
    const python = saying(name, version, 'ready');
    assert.deepEqual(await probeInterpreter(python), { kind: 'tooOld', python, version: version.join('.') });
  }
});

test('output of a site hook before the answer is ignored', async () => {
  const python = interpreter('chatty', `echo welcome; echo '{"version": [3, 12, 0], "raydap": "ready"}'`);
  assert.equal((await probeInterpreter(python)).kind, 'ready');
});

test('the reason why an interpreter cannot be run is reported', async () => {
  const missing = join(folder, 'missing');
  assert.deepEqual(await probeInterpreter(missing), { kind: 'broken', python: missing, reason: 'it does not exist' });
  const failing = interpreter('failing', 'echo first >&2; echo libpython is missing >&2; exit 1');
  assert.deepEqual(await probeInterpreter(failing), {
    kind: 'broken',
    python: failing,
    reason: 'libpython is missing',
  });
  const silent = interpreter('silent', 'true');
  assert.deepEqual(await probeInterpreter(silent), {
    kind: 'broken',
    python: silent,
    reason: 'its output is not that of a Python interpreter',
  });
});
