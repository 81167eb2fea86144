import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';

import { StackTree } from '../../../src/views/stack-tree';
import { stackCommands } from '../../../src/views/stack-commands';
import type { EvaluationPanel } from '../../../src/views/evaluation-panel';
import type { StackPicture } from '../../../src/views/stack-picture';
import { thread, worker } from '../example';
import { begin, FakeSession, focus } from '../fake-sessions';
import { settled } from '../fake-source';
import { EventEmitter, events, resetVscode } from '../fake-vscode';

/** Return a session whose reads of stacks wait until the test calls the functions in `answers`. */
function slow(id: string): { session: FakeSession; answers: (() => void)[] } {
  const answers: (() => void)[] = [];
  const frame = { name: id, path: '/a.py', line: 1 };
  const node = { frame, count: 1, members: [1], running: [], label: id, children: [] };
  const stacks = { root: { ...node, frame: null, children: [node] }, missing: [], silent: [], unread: [] };
  const read = (): Promise<unknown> => new Promise((resolve) => void answers.push(() => resolve(stacks)));
  const stopped = worker(1, { state: 'stopped', threads: [thread(1)] });
  return { session: new FakeSession(id, [stopped], undefined, undefined, { 'raydap/stacks': read }), answers };
}

/** A filter that shows all workers. */
const ALL = { selectOf: () => undefined, onDidChange: new EventEmitter().event };

beforeEach(resetVscode);

test('the view shows the stacks of the focused session, not a slow answer of another one', async () => {
  const [one, other] = [slow('one'), slow('other')];
  const sessions = await begin(one.session, other.session);
  const tree = new StackTree(sessions, ALL);
  focus(one.session, 1);
  tree.changed();
  focus(other.session, 1);
  events.activeSession.fire(other.session);
  other.answers[0]?.();
  await settled();
  one.answers[0]?.();
  await settled();
  const rows = tree.getChildren();
  assert.deepEqual(
    rows.map(({ label }) => label),
    ['other (a.py:1)'],
  );
  // The focus changes again, but the rows of the other session are still shown.
  focus(one.session, 1);
  const commands = stackCommands(tree, {} as unknown as EvaluationPanel, {} as unknown as StackPicture);
  await commands.continueStack?.(...([rows[0]] as never[]));
  assert.equal(other.session.asked.at(-1), 'raydap/continue {"threads":[1]}');
  assert.equal(one.session.asked.length, 1);
  tree.dispose();
});

test('many changes during a slow read cause one more read', async () => {
  const { session, answers } = slow('one');
  const tree = new StackTree(await begin(session), ALL);
  focus(session, 1);
  for (let change = 0; change < 6; change++) {
    tree.changed();
    await settled();
  }
  assert.equal(session.asked.length, 1);
  answers[0]?.();
  await settled();
  assert.equal(tree.getChildren().length, 1);
  tree.dispose();
});
