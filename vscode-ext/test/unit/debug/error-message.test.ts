/** Tests: an error of work that no caller awaits is shown as a message; it is not an unhandled rejection. */

import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';

import type { Uri } from 'vscode';

import { ProblemDialog } from '../../../src/debug/problem-dialog';
import type { TokenStore } from '../../../src/model/token-store';
import { showingErrors } from '../../../src/views/commands';
import { stepAt } from '../../../src/views/multi-worker-commands';
import { settled } from '../fake-source';
import { answers, resetVscode, seen } from '../fake-vscode';

beforeEach(resetVscode);

test('if the action of a button fails, a message shows its error', async () => {
  const dialog = new ProblemDialog({} as unknown as TokenStore, {} as unknown as Uri, '1.2.3');
  answers.push((_: string, button: object) => button);
  const configuration = { type: 'raydap', request: 'attach', name: 'Job' };
  const retry = (): Promise<never> => Promise.reject(new Error('It failed again.'));
  dialog.show({ text: 'It failed.', actions: ['join'] }, { folder: undefined, configuration, retry });
  await settled();
  assert.deepEqual(seen, ['error: It failed.', 'error: It failed again.']);
});

test('if focusing a parted worker fails after a step, a message shows the error', async () => {
  const groups = [
    { members: [1], label: 'T 1', frame: null },
    { members: [2], label: 'T 2', frame: null },
  ];
  const request = (name: string): Promise<never> =>
    name === 'raydap/step'
      ? Promise.resolve({ threads: [1, 2], groups } as never)
      : Promise.reject(new Error('It runs again.'));
  answers.push('Show');
  await stepAt({ request }, 1);
  await settled();
  assert.equal(seen.at(-1), 'error: It runs again.');
});

test('a command that rejects with a plain text shows that text', async () => {
  const failed = { then: (_: unknown, reject: (reason: string) => void) => reject('A plain text.') };
  const commands = showingErrors({ fail: () => failed });
  await commands.fail?.();
  await settled();
  assert.deepEqual(seen, ['error: A plain text.']);
});
