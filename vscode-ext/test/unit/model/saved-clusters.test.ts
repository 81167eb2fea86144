import assert from 'node:assert/strict';
import { test } from 'node:test';

import {
  addressError,
  clusterOf,
  configurationOf,
  defaultName,
  SavedClusters,
  watcherArguments,
} from '../../../src/model/saved-clusters';
import { memory } from '../example';

test('clusters are saved, changed and removed', async () => {
  const kept = memory();
  const clusters = new SavedClusters(kept);
  const one = await clusters.add('http://10.0.0.7:8265');
  const two = await clusters.add('auto', 'mine');
  await clusters.change(one.id, { name: 'big' });
  assert.deepEqual(new SavedClusters(kept).all, [
    { id: one.id, name: 'big', address: 'http://10.0.0.7:8265' },
    { id: two.id, name: 'mine', address: 'auto' },
  ]);
  await clusters.remove(one.id);
  assert.deepEqual(clusters.all, [two]);
});

test('an address that is saved already is not saved twice', async () => {
  const clusters = new SavedClusters(memory());
  const one = await clusters.add('http://localhost:8265/');
  assert.equal(await clusters.add('http://127.0.0.1:8265'), one);
  assert.equal(clusters.all.length, 1);
});

test('a new cluster does not get the id of an existing one after a removal', async () => {
  const clusters = new SavedClusters(memory());
  const one = await clusters.add('http://a:1');
  const two = await clusters.add('http://b:1');
  await clusters.remove(one.id);
  assert.notEqual((await clusters.add('http://c:1')).id, two.id);
});

test('a session belongs to the cluster it was started for, else to the cluster with its address', () => {
  const a = { id: '1', name: 'a', address: 'http://127.0.0.1:8265' };
  const hub = { id: '2', name: 'hub', address: 'ws://127.0.0.1:4711/dap' };
  const auto = { id: '3', name: 'auto', address: 'auto' };
  const all = [a, hub, auto];
  const attach = { type: 'raydap', request: 'attach', name: 'x' };
  assert.equal(clusterOf(all, { ...attach, dashboard: 'http://127.0.0.1:8265/' }), a);
  assert.equal(clusterOf(all, { ...attach, dashboard: a.address, __cluster: '3' }), auto);
  assert.equal(clusterOf(all, { ...attach, __hub: 'ws://127.0.0.1:4711/dap' }), hub);
  assert.equal(clusterOf(all, attach), auto);
  assert.equal(clusterOf(all, { ...attach, dashboard: 'http://other:8265' }), undefined);
  assert.equal(clusterOf(all, { ...attach, workers: ['127.0.0.1:5678'] }), undefined);
  // A launched program without a dashboard may start its own cluster.
  assert.equal(clusterOf(all, { ...attach, request: 'launch' }), undefined);
});

test('the scheme of an address decides whether it is a hub or a dashboard', () => {
  assert.deepEqual(configurationOf({ id: '1', name: '', address: 'wss://h:1/dap' }), { hub: 'wss://h:1/dap' });
  assert.deepEqual(configurationOf({ id: '1', name: '', address: '10.0.0.7:6379' }), { dashboard: '10.0.0.7:6379' });
});

test('the default name of a cluster is its host and port', () => {
  assert.equal(defaultName('http://10.0.0.7:8265/'), '10.0.0.7:8265');
  assert.equal(defaultName('ws://127.0.0.1:4711/dap'), '127.0.0.1:4711');
  assert.equal(defaultName('auto'), 'This machine');
});

test('a text that cannot be an address is refused with a sentence', () => {
  for (const address of ['http://10.0.0.7:8265', 'auto', '10.0.0.7:6379', 'ray://a:10001', 'ws://a:4711/dap']) {
    assert.equal(addressError(address), undefined, address);
  }
  for (const address of ['', '  ', 'a b', 'ws://a', 'tcp://a:1?token=x']) {
    assert.match(addressError(address) ?? '', /\.$/, address);
  }
});

test('a watcher attaches to no worker, and is an observer at a hub', () => {
  const cluster = { id: '1', name: 'big', address: 'http://10.0.0.7:8265' };
  assert.deepEqual(watcherArguments(cluster, '/project'), { first: { dashboard: cluster.address, autoAttach: false } });
  const hub = { ...cluster, address: 'ws://a:1/dap' };
  const join = { autoAttach: false, role: 'observer' };
  assert.deepEqual(watcherArguments(hub), { first: join });
  assert.deepEqual(watcherArguments(hub, '/project'), { first: { ...join, workspaceFolder: '/project' }, join });
});
