import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';

import type { Memento } from 'vscode';

import { pickArgs } from '../../../src/debug/pick-args';
import { showingErrors } from '../../../src/views/commands';
import { answers, resetVscode, seen } from '../fake-vscode';

beforeEach(resetVscode);

function memory(): Memento {
  const values = new Map<string, unknown>();
  return {
    keys: () => [...values.keys()],
    get: (key: string, otherwise?: unknown) => values.get(key) ?? otherwise,
    update: (key: string, value: unknown) => Promise.resolve(void values.set(key, value)),
  } as Memento;
}

test('the arguments that were entered last are offered again', async () => {
  const kept = memory();
  answers.push('--steps 3');
  assert.equal(await pickArgs(kept), '--steps 3');
  answers.push(undefined);
  assert.equal(await pickArgs(kept), undefined);
  assert.equal(kept.get('arguments'), '--steps 3');
  assert.equal(seen.length, 2);
});

test('a command returns its result to VS Code, and undefined after an error', async () => {
  const commands = showingErrors({ pick: () => 'a b', fail: () => Promise.reject(new Error('It failed.')) });
  assert.equal(await commands.pick?.(), 'a b');
  assert.equal(await commands.fail?.(), undefined);
});
