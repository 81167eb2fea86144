import assert from 'node:assert/strict';
import { test } from 'node:test';

import { ClusterRegistry, type ConfiguredSession } from '../../../src/model/cluster-registry';
import type { ClusterConnection } from '../../../src/model/cluster-connection';
import type { Configuration } from '../../../src/model/configuration';
import { debugConfiguration, SavedClusters } from '../../../src/model/saved-clusters';
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
  assert.ok(registry.all.every((connection) => registry.kindOf(connection) === 'temporary'));
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
  assert.ok(connection !== undefined && registry.kindOf(connection) === 'saved');
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

const HERE = 'http://127.0.0.1:8265';

/** Return a registry in which a cluster of this machine is listed. */
function withLocal(): ReturnType<typeof empty> & { readonly local: ClusterConnection } {
  const made = empty();
  made.registry.setRunning([HERE]);
  const [local] = made.registry.all;
  assert.ok(local !== undefined);
  assert.equal(made.registry.kindOf(local), 'local');
  return { ...made, local };
}

test('a cluster of this machine is listed until it ends, and starts no watcher', () => {
  const { registry, watchers } = withLocal();
  registry.watch();
  registry.setRunning([HERE, '10.0.0.7:6379']);
  assert.deepEqual(outline(registry), ['127.0.0.1:8265: idle', '10.0.0.7:6379: idle']);
  registry.setRunning([]);
  assert.deepEqual(outline(registry), []);
  assert.deepEqual(watchers, []);
});

test('its row is kept as long as a session debugs it', () => {
  const { registry, local } = withLocal();
  registry.addSession(new FakeSession('s', debugConfiguration(local.cluster)));
  registry.setRunning([]);
  assert.deepEqual(outline(registry), ['127.0.0.1:8265: s']);
  registry.removeSession('s');
  assert.deepEqual(outline(registry), []);
});

test('a session moves to the row of its cluster when the cluster is listed', async () => {
  const { registry } = empty();
  const session = new FakeSession('s', { request: 'attach', dashboard: 'auto' });
  registry.addSession(session);
  await session.listOf(HERE);
  registry.setRunning([HERE]);
  assert.deepEqual(outline(registry), ['127.0.0.1:8265: s']);
});

test('a hidden cluster comes back only after it has ended', () => {
  const { registry, local } = withLocal();
  registry.hide(local);
  registry.setRunning([HERE]);
  assert.deepEqual(outline(registry), []);
  registry.setRunning([]);
  registry.setRunning([HERE]);
  assert.deepEqual(outline(registry), ['127.0.0.1:8265: idle']);
});

test('a cluster of this machine that is saved has one row, and keeps its session', async () => {
  const { registry, local } = withLocal();
  registry.addSession(new FakeSession('s', debugConfiguration(local.cluster)));
  await registry.add(HERE);
  assert.deepEqual(outline(registry), ['127.0.0.1:8265: s']);
  const [saved] = registry.all;
  assert.ok(saved !== undefined && registry.kindOf(saved) === 'saved');
});

test('a saved cluster that is being reached may be the one of this machine', async () => {
  const { registry, watchers } = empty();
  await registry.add('auto');
  registry.setRunning([HERE]);
  assert.deepEqual(outline(registry), ['This machine: connecting']);
  await settled();
  const [watcher] = watchers;
  assert.ok(watcher !== undefined);
  await watcher.listOf('http://10.0.0.7:8265');
  assert.deepEqual(outline(registry), ['This machine: watching', '127.0.0.1:8265: idle']);
});
