import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';

import { adapterCommand, connectCommand, installCommand, shellLine } from '../../../src/process/command';

const log = { file: '/logs/raydap.log', verbose: false };

test('the adapter of a window uses standard input and output and writes a log', () => {
  assert.deepEqual(adapterCommand('/venv/bin/python', log), {
    command: '/venv/bin/python',
    args: ['-m', 'raydap', 'adapter', '--log-file', '/logs/raydap.log'],
    env: {},
  });
  assert.ok(adapterCommand('python3', { ...log, verbose: true }).args.includes('--verbose'));
});

test('the token of a cluster is passed in the environment only', () => {
  const { args, env } = adapterCommand('python3', log, 'secret');
  assert.deepEqual(env, { RAY_AUTH_TOKEN: 'secret' });
  assert.ok(!args.join(' ').includes('secret'));
});

test('the token of a hub is passed in the environment only', () => {
  assert.deepEqual(connectCommand('python3', 'ws://127.0.0.1:4711/dap', 'secret'), {
    command: 'python3',
    args: ['-m', 'raydap', 'connect', 'ws://127.0.0.1:4711/dap'],
    env: { RAYDAP_TOKEN: 'secret' },
  });
});

test('an empty token is left out, so that raydap looks for one itself', () => {
  assert.deepEqual(connectCommand('python3', 'tcp://127.0.0.1:1', '').env, {});
});

test('a shell splits the copied command into the same words', () => {
  const words = installCommand({ python: "/home/o'neil/my env/bin/python", version: '1.2.3' });
  const line = shellLine(['printf', '%s\\n', ...words]);
  assert.deepEqual(execFileSync('sh', ['-c', line], { encoding: 'utf8' }).trimEnd().split('\n'), words);
  assert.equal(shellLine(words.slice(1)), '-m pip install raydap==1.2.3');
});

test('an environment without pip is installed into by uv, and the version is always that of the extension', () => {
  const words = installCommand({ python: '/venv/bin/python', version: '1.2.3', installer: 'uv' });
  assert.deepEqual(words, ['uv', 'pip', 'install', '--python', '/venv/bin/python', 'raydap==1.2.3']);
});
