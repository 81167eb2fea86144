/** Tests: the text of a file goes to the sessions, by a command and at a save. */

import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';

import type { DebugSessions } from '../../../src/views/debug-sessions';
import { reloadCommands, ReloadOnSave } from '../../../src/views/reload-commands';
import { worker } from '../example';
import { begin, FakeSession } from '../fake-sessions';
import { settled } from '../fake-source';
import { events, resetVscode, seen, settings, window } from '../fake-vscode';

const REQUEST = 'raydap/reload {"path":"/app/train.py","text":"x = 1\\n"}';

beforeEach(() => {
  resetVscode();
  settings.reloadOnSave = undefined;
  Object.assign(window, { activeTextEditor: undefined });
});

function session(
  id: string,
  answer: () => unknown = () => ({ text: 'train.py: done.\n  changed: step' }),
): FakeSession {
  return new FakeSession(id, [worker('w1')], undefined, undefined, { 'raydap/reload': answer });
}

function edit(changes: object = {}): { saves: number } {
  const uri = { fsPath: '/app/train.py', scheme: 'file' };
  const document = {
    ...{ uri, languageId: 'python', isDirty: false, saves: 0, getText: () => 'x = 1\n', ...changes },
    save(): Promise<boolean> {
      this.saves += 1;
      events.saved.fire(this);
      return Promise.resolve(true);
    },
  };
  Object.assign(window, { activeTextEditor: { document } });
  return document;
}

async function run(sessions: DebugSessions): Promise<void> {
  await reloadCommands(sessions).reloadCode?.();
  await settled();
}

test('the command sends the text to all sessions and shows the details in the debug console', async () => {
  const [one, other] = [session('a'), session('b')] as const;
  edit();
  await run(await begin(one, other));
  assert.deepEqual([one.asked, other.asked], [[REQUEST], [REQUEST]]);
  assert.deepEqual(seen.slice(0, 2), ['status: train.py: done.', 'console:   changed: step']);
});

test('a changed file is saved first, and sent once', async () => {
  const one = session('a');
  const sessions = await begin(one);
  const listener = new ReloadOnSave(sessions);
  for (const reloadOnSave of [false, true]) {
    settings.reloadOnSave = reloadOnSave;
    const document = edit({ isDirty: true });
    await run(sessions);
    assert.deepEqual([document.saves, one.asked.splice(0)], [1, [REQUEST]]);
  }
  listener.dispose();
});

test('a save sends the text only if the setting is on, and only of Python files', async () => {
  const one = session('a');
  const listener = new ReloadOnSave(await begin(one));
  const text = { languageId: 'python', uri: { fsPath: '/app/train.py', scheme: 'file' }, getText: () => 'x = 1\n' };
  events.saved.fire(text);
  settings.reloadOnSave = true;
  events.saved.fire({ ...text, languageId: 'markdown' });
  events.saved.fire({ ...text, uri: { ...text.uri, scheme: 'git' } });
  assert.deepEqual(one.asked, []);
  events.saved.fire(text);
  assert.deepEqual(one.asked, [REQUEST]);
  await settled();
  listener.dispose();
  events.saved.fire(text);
  assert.deepEqual(one.asked, [REQUEST]);
});

test('an error of a save is shown', async () => {
  const refusing = session('a', () => {
    throw new Error('train.py has not changed anything: line 3: invalid syntax.');
  });
  const listener = new ReloadOnSave(await begin(refusing));
  settings.reloadOnSave = true;
  edit({ isDirty: true });
  await (window.activeTextEditor as unknown as { document: { save(): Promise<boolean> } }).document.save();
  await settled();
  listener.dispose();
  assert.deepEqual(seen, ['error: train.py has not changed anything: line 3: invalid syntax.']);
});

test('without a file or a session the command reports what is missing', async () => {
  await run(await begin(session('a')));
  edit();
  await run(await begin());
  assert.deepEqual(seen, [
    'information: Open the Python file whose code the workers are to run.',
    'information: There is no debug session whose workers could run the new code.',
  ]);
});
