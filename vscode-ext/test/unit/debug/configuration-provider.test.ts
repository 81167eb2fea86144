import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';

import { ConfigurationProvider } from '../../../src/debug/configuration-provider';
import type { ProblemDialog } from '../../../src/debug/problem-dialog';
import type { TokenStore } from '../../../src/model/token-store';
import { settled } from '../fake-source';
import { answers, extensions, resetVscode, seen, started } from '../fake-vscode';

const LAUNCH = { type: 'raydap', request: 'launch', name: 'Job', program: 'a.py' };

const CLUSTERS = [{ id: '1', name: 'Big one', address: 'http://10.0.0.7:8265' }];

function provider(): ConfigurationProvider {
  return new ConfigurationProvider({ all: CLUSTERS }, {} as unknown as TokenStore, {} as unknown as ProblemDialog);
}

beforeEach(() => {
  resetVscode();
  extensions.getExtension = () => undefined;
});

test('a run without debugging is refused with a sentence, also without a launch.json', async () => {
  for (const given of [LAUNCH, { ...LAUNCH, request: 'attach' }, { type: 'raydap', name: '', request: '' }]) {
    resetVscode();
    assert.equal(await provider().resolveDebugConfiguration(undefined, { ...given, noDebug: true }), undefined);
    assert.equal(seen.length, 1);
    assert.match(seen[0] ?? '', /^warning: raydap cannot run a program without debugging it\./);
  }
});

test('the button Start Debugging starts the same configuration with debugging', async () => {
  answers.push('Start Debugging');
  await provider().resolveDebugConfiguration(undefined, { ...LAUNCH, noDebug: true });
  await settled();
  assert.equal(seen.at(-1), 'start: Job');
});

test('a configuration with noDebug false is resolved as usual', async () => {
  const resolved = await provider().resolveDebugConfiguration(undefined, { ...LAUNCH, noDebug: false });
  assert.deepEqual([resolved?.program, seen], ['a.py', []]);
});

test('the Python debugger runs a launched program without debugging, with the arguments that both have', async () => {
  extensions.getExtension = () => ({});
  const given = { ...LAUNCH, args: ['x'], envFile: '.env', reach: 'prepared', noDebug: true };
  assert.equal(await provider().resolveDebugConfiguration(undefined, given), undefined);
  assert.deepEqual(seen, ['start: Job without debugging']);
  assert.deepEqual(started, [
    { type: 'debugpy', request: 'launch', name: 'Job', program: 'a.py', args: ['x'], envFile: '.env' },
  ]);
  await provider().resolveDebugConfiguration(undefined, { ...LAUNCH, submit: true, noDebug: true });
  assert.match(seen.at(-1) ?? '', /^warning: raydap cannot run a program without debugging it\./);
});

test('saved clusters can be chosen without a launch.json and in Run and Debug, and are not written into a new one', async () => {
  const debug = {
    type: 'raydap',
    request: 'attach',
    name: 'Ray: Big one',
    dashboard: CLUSTERS[0]?.address,
    __cluster: '1',
  };
  assert.deepEqual(provider().dynamicConfigurations(undefined).at(-1), debug);
  assert.ok(
    provider()
      .provideDebugConfigurations(undefined)
      .every(({ name }) => name !== debug.name),
  );
  answers.push({ configuration: debug });
  const resolved = await provider().resolveDebugConfiguration(undefined, {
    type: 'raydap',
    name: '',
    request: undefined as unknown as string,
  });
  assert.deepEqual(resolved, debug);
  assert.equal(seen.length, 1);
});
