import assert from 'node:assert/strict';
import { test } from 'node:test';

import { ClusterRegistry, type ConfiguredSession } from '../../../src/model/cluster-registry';
import type { Configuration } from '../../../src/model/configuration';
import { SavedClusters } from '../../../src/model/saved-clusters';
import { memory, worker } from '../example';
import { FakeSource, settled } from '../fake-source';

const ADDRESS = 'http://10.0.0.7:8265';

class FakeSession extends FakeSource implements ConfiguredSession {
  readonly name = 'Ray';

  constructor(
    id: string,
    readonly configuration: Partial<Configuration> = { request: 'attach', dashboard: ADDRESS },
  ) {
    super(id);
  }
}

/** Return a registry without clusters. `watchers` are the watchers that it has started. */
function empty(): { registry: ClusterRegistry; watchers: FakeSource[]; changes: () => number } {
  const watchers: FakeSource[] = [];
  let changes = 0;
  const registry = new ClusterRegistry(new SavedClusters(memory()), {
    startWatcher: () => {
      const watcher = new FakeSource();
      watchers.push(watcher);
      return Promise.resolve(watcher);
    },
    changed: () => (changes += 1),
    now: () => 0,
    timers: { set: () => undefined, clear: () => undefined },
  });
  return { registry, watchers, changes: () => changes };
}

function outline(registry: ClusterRegistry): string[] {
  return registry.all.map(({ cluster, session, status }) => `${cluster.name}: ${session?.id ?? status.kind}`);
}

test('a session of an unsaved cluster has a row until it ends', () => {
  const { registry, changes } = empty();
  registry.addSession(new FakeSession('s'));
  assert.deepEqual(outline(registry), ['Ray: s']);
  assert.ok(registry.all.every((connection) => !registry.isSaved(connection)));
  const before = changes();
  registry.removeSession('s');
  assert.deepEqual(outline(registry), []);
  assert.ok(changes() > before);
});

test('a session moves to its cluster when the cluster is added, and to a row of its own when it is removed', async () => {
  const { registry, watchers } = empty();
  registry.addSession(new FakeSession('s'));
  await registry.add(ADDRESS);
  assert.deepEqual(outline(registry), ['10.0.0.7:8265: s']);
  const [connection] = registry.all;
  assert.ok(connection !== undefined && registry.isSaved(connection));
  assert.equal(registry.connectionOfSession('s'), connection);
  await registry.remove(connection);
  assert.deepEqual(outline(registry), ['Ray: s']);
  await settled();
  assert.ok(watchers.every(({ closed }) => closed));
});

test('updates of a session reach its own cluster only', async () => {
  const { registry } = empty();
  const [one, two] = [new FakeSession('1'), new FakeSession('2', { request: 'attach', dashboard: 'auto' })];
  registry.addSession(one);
  registry.addSession(two);
  await one.list();
  await two.list(worker(2));
  registry.workersChanged('1', { workers: [worker(1)], outage: '' });
  assert.deepEqual(
    registry.all.map(({ tree }) => [...tree.root.workers()].map((node) => node.worker.key)),
    [['1'], ['2']],
  );
  const node = registry.all[1]?.tree.get('2');
  assert.ok(node !== undefined);
  assert.equal(registry.connectionOf(node), registry.all[1]);
});

test('saved clusters are watched once the view is visible, also after the end of their session', async () => {
  const { registry, watchers } = empty();
  registry.addSession(new FakeSession('s'));
  await registry.add(ADDRESS);
  registry.removeSession('s');
  await settled();
  assert.deepEqual(outline(registry), ['10.0.0.7:8265: connecting']);
  assert.equal(watchers.length, 1);
  registry.watch();
  await settled();
  assert.equal(watchers.length, 1);
  registry.close();
  assert.deepEqual(outline(registry), ['10.0.0.7:8265: idle']);
});

test('renaming a cluster changes its name in the list', async () => {
  const { registry } = empty();
  await registry.add(ADDRESS);
  const [connection] = registry.all;
  assert.ok(connection !== undefined);
  await registry.change(connection, { name: 'big' });
  assert.equal(connection.cluster.name, 'big');
});

test('a launched session moves to the saved cluster that its program has started or connected to', async () => {
  const { registry } = empty();
  await registry.add(ADDRESS);
  const session = new FakeSession('s', { request: 'launch' });
  registry.addSession(session);
  await session.list();
  assert.deepEqual(outline(registry), ['10.0.0.7:8265: connecting', 'Ray: s']);
  registry.workersChanged('s', { workers: [worker(1)], outage: '' });
  await session.list(worker(1));
  registry.workersChanged('s', { workers: [worker(1)], outage: '' });
  await session.listOf(`${ADDRESS}/`, worker(1));
  assert.deepEqual(outline(registry), ['10.0.0.7:8265: s']);
});

test('a session of a hub stays apart from a saved cluster with the URL that the hub reports', async () => {
  const { registry } = empty();
  await registry.add('http://127.0.0.1:8265');
  const session = new FakeSession('s', { request: 'attach', __hub: 'ws://far:4711/dap' });
  registry.addSession(session);
  await session.listOf('http://127.0.0.1:8265');
  registry.workersChanged('s', { workers: [worker(1)], outage: '' });
  await settled();
  assert.deepEqual(outline(registry), ['127.0.0.1:8265: connecting', 'Ray: s']);
});

test('a rest ends the watchers and forgets their workers, and watching begins anew after it', async () => {
  const { registry, watchers } = empty();
  registry.watch();
  await registry.add(ADDRESS);
  await settled();
  await watchers[0]?.list(worker(1));
  registry.rest();
  assert.deepEqual([watchers[0]?.closed, outline(registry)], [true, ['10.0.0.7:8265: idle']]);
  assert.equal(registry.all[0]?.tree.size, 0);
  registry.watch();
  await settled();
  assert.equal(watchers.length, 2);
});
