/** Tests: the actions of the buttons in messages about problems. */

import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';

import type { Uri } from 'vscode';

import { ProblemDialog, type Attempt } from '../../../src/debug/problem-dialog';
import type { TokenStore } from '../../../src/model/token-store';
import { settled } from '../fake-source';
import { answers, events, resetVscode, seen, tasks, type Task } from '../fake-vscode';

const ATTEMPT: Attempt = {
  folder: undefined,
  configuration: { type: 'raydap', request: 'attach', name: 'Job' },
  finding: { kind: 'lacksRaydap', python: '/venv/bin/python', version: '3.12.1', installer: 'uv' },
};

beforeEach(resetVscode);

test('an installation waits for the end of its own task, not of another one', async () => {
  const dialog = new ProblemDialog({} as unknown as TokenStore, {} as unknown as Uri, '1.2.3');
  const execution: { task?: Task } = {};
  tasks.executeTask = (task) => {
    execution.task = task;
    return Promise.resolve(execution);
  };
  answers.push((_: string, button: object) => button);
  dialog.show({ text: 'It is missing.', actions: ['install'] }, ATTEMPT);
  await settled();
  const command = execution.task?.execution;
  assert.deepEqual(
    [command?.process, ...(command?.args ?? [])].join(' '),
    'uv pip install --python /venv/bin/python raydap==1.2.3',
  );
  events.taskEnded.fire({ execution: { task: execution.task }, exitCode: 1 });
  await settled();
  assert.deepEqual(seen, ['error: It is missing.']);
  events.taskEnded.fire({ execution, exitCode: 0 });
  await settled();
  assert.deepEqual(seen, ['error: It is missing.', 'start: Job']);
});

test('the message about a failed installation names the program, also if it ends immediately', async () => {
  const dialog = new ProblemDialog({} as unknown as TokenStore, {} as unknown as Uri, '1.2.3');
  tasks.executeTask = (task) => {
    const execution = { task };
    events.taskEnded.fire({ execution, exitCode: 2 });
    return Promise.resolve(execution);
  };
  answers.push((_: string, button: object) => button);
  dialog.show({ text: 'It is missing.', actions: ['install'] }, ATTEMPT);
  await settled();
  assert.match(seen.at(-1) ?? '', /^error: uv exited with code 2, so raydap is not installed/);
});

test('the log is offered only for sessions that write it: a hub writes its own, on its machine', async () => {
  const dialog = new ProblemDialog({} as unknown as TokenStore, {} as unknown as Uri, '1.2.3');
  const titles = async (more: object): Promise<unknown> => {
    let buttons: { title: string }[] = [];
    answers.push((_: string, ...all: { title: string }[]) => void (buttons = all));
    const configuration = { ...ATTEMPT.configuration, ...more };
    dialog.show({ text: 'It failed.', actions: ['showLog'] }, { ...ATTEMPT, configuration });
    await settled();
    return buttons.map(({ title }) => title);
  };
  assert.deepEqual([await titles({}), await titles({ __hub: 'ws://a:1/dap' })], [['Show log'], ['OK']]);
});
