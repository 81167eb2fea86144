import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';

import { ClusterFilter } from '../../../src/views/cluster-filter';
import { worker } from '../example';
import { begin, FakeSession } from '../fake-sessions';
import { settled } from '../fake-source';
import { resetVscode } from '../fake-vscode';

type Select = (args: { select: string }) => unknown;

function cluster(id: string, select: Select): FakeSession {
  return new FakeSession(id, [worker(`${id}1`), worker(`${id}2`)], undefined, undefined, { 'raydap/select': select });
}

const first =
  (id: string): Select =>
  () => ({ workers: [`${id}1`] });

function refuse(): never {
  throw new Error('The set is wrong.');
}

async function filtering(
  ...sessions: FakeSession[]
): Promise<{ filter: ClusterFilter; shown: () => string[]; changes: () => number }> {
  const { registry } = await begin(...sessions);
  const filter = new ClusterFilter(registry);
  let changes = 0;
  filter.onDidChange(() => (changes += 1));
  const shown = (): string[] =>
    registry.all.flatMap((connection) =>
      [...connection.tree.root.workers()]
        .filter((node) => filter.shows(connection, node))
        .map((node) => node.worker.key),
    );
  return { filter, shown, changes: () => changes };
}

beforeEach(resetVscode);

test('a set is refused while no cluster is connected, because none can check it', async () => {
  const { filter } = await filtering();
  await assert.rejects(filter.set('nonsense('), /no cluster is connected/);
  assert.equal(filter.text, '');
});

test('a set that every cluster refuses changes nothing', async () => {
  const { filter, shown } = await filtering(cluster('a', refuse), cluster('b', refuse));
  await assert.rejects(filter.set('actr:X'), /The set is wrong/);
  assert.deepEqual([filter.text, filter.problem, shown()], ['', '', ['a1', 'a2', 'b1', 'b2']]);
  assert.equal(filter.shown, undefined);
});

test('a cluster that refuses the set or does not answer does not delay the others', async () => {
  let answer: (body: object) => void = () => undefined;
  const slow = cluster('s', () => new Promise((resolve) => (answer = resolve)));
  const { filter, shown, changes } = await filtering(cluster('a', refuse), slow, cluster('b', first('b')));
  await filter.set('rank:0');
  assert.deepEqual(shown(), ['a1', 'a2', 's1', 's2', 'b1']);
  assert.deepEqual(filter.shown, shown());
  assert.equal(filter.problem, 'The filter fails for a: The set is wrong.');
  assert.equal(changes(), 1);
  answer({ workers: ['s2'] });
  await settled();
  assert.deepEqual([shown(), changes()], [['a1', 'a2', 's2', 'b1'], 2]);
});

test('an old answer does not overwrite that of a later set', async () => {
  const answers: ((body: object) => void)[] = [];
  const { filter, shown } = await filtering(cluster('a', () => new Promise((resolve) => void answers.push(resolve))));
  const [slow, quick] = [filter.set('rank:0'), filter.set('rank:1')];
  answers[1]?.({ workers: ['a2'] });
  await quick;
  answers[0]?.({ workers: ['a1'] });
  await slow;
  assert.deepEqual([filter.text, shown()], ['rank:1', ['a2']]);
});

test('workers stay hidden while a later read fails, and unchanged answers change no rows', async () => {
  let fails = false;
  const session = cluster('a', () => (fails ? refuse() : { workers: ['a1'] }));
  const { filter, shown, changes } = await filtering(session);
  await filter.set('rank:0');
  const again = (filter as unknown as { reads: Map<unknown, { restart(): Promise<void> }> }).reads;
  filter.update();
  const [read] = again.values();
  await read?.restart();
  assert.deepEqual([shown(), changes()], [['a1'], 1]);
  fails = true;
  await read?.restart();
  assert.deepEqual([shown(), filter.problem], [['a1'], 'The filter fails for a: The set is wrong.']);
  fails = false;
  await read?.restart();
  assert.deepEqual([shown(), filter.problem, changes()], [['a1'], '', 3]);
  filter.dispose();
});
