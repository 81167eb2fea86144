/** Tests: the workers that the commands of the Ray view act on, and the counts in its rows. */

import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';

import type { WorkerEntry } from '../../../src/protocol/messages';
import { ClusterFilter } from '../../../src/views/cluster-filter';
import { ClusterTree } from '../../../src/views/cluster-tree';
import { CommandTargets } from '../../../src/views/command-target';
import type { Commands } from '../../../src/views/commands';
import { rowCommands } from '../../../src/views/row-commands';
import type { StackDocuments } from '../../../src/views/stack-documents';
import type { Element } from '../../../src/views/tree-elements';
import { WorkerActions } from '../../../src/views/worker-actions';
import { thread, worker } from '../example';
import { begin, FakeSession } from '../fake-sessions';
import { EventEmitter, resetVscode, seen } from '../fake-vscode';

function stopped(id: number): WorkerEntry {
  return worker(id, { state: 'stopped', threads: [thread(id)] });
}

interface Fixture {
  readonly commands: Commands;
  readonly tree: ClusterTree;
  /** The row of the cluster. */
  readonly cluster: Element;
  /** The row of the actor class. */
  readonly group: Element;
  readonly filter: ClusterFilter;
}

async function show(session: FakeSession): Promise<Fixture> {
  const sessions = await begin(session);
  const { registry } = sessions;
  const [cluster] = registry.all;
  const filter = new ClusterFilter(registry);
  const group = cluster?.tree.get('11')?.parent;
  assert.ok(cluster !== undefined && group !== undefined);
  const view = { selection: [], visible: true, onDidChangeSelection: new EventEmitter().event };
  const actions = new WorkerActions(new CommandTargets(sessions, view), filter);
  const commands = rowCommands(sessions, {} as unknown as StackDocuments, actions);
  return { commands, tree: new ClusterTree(registry, filter), cluster, group, filter };
}

async function run(commands: Commands, name: string, ...rows: unknown[]): Promise<void> {
  await commands[name]?.(...(rows as never[]));
}

function filtered(...workers: WorkerEntry[]): FakeSession {
  return new FakeSession('one', workers, undefined, undefined, { 'raydap/select': () => ({ workers: ['11'] }) });
}

beforeEach(resetVscode);

test('hidden workers are neither continued, detached, attached nor copied', async () => {
  const session = filtered(stopped(11), stopped(12), worker(13));
  const { commands, cluster, group, filter } = await show(session);
  await filter.set('rank:0');
  for (const name of ['continueWorkers', 'detachWorkers', 'attachWorkers']) {
    await run(commands, name, group);
  }
  await run(commands, 'detachWorkers', cluster, [cluster, group]);
  await run(commands, 'copyWorkers', group);
  assert.deepEqual(session.asked.slice(1), [
    'raydap/continue {"threads":[11]}',
    'raydap/detach {"workers":["11"]}',
    'raydap/detach {"workers":["11"]}',
  ]);
  assert.deepEqual(seen, [
    'status: Ray: 1 worker continued; 1 hidden by the filter was left out',
    'status: Ray: 1 worker detached; 1 hidden by the filter was left out',
    'status: Ray: 0 workers being attached; 1 hidden by the filter was left out',
    'status: Ray: 1 worker detached; 1 hidden by the filter was left out',
    'clipboard: Trainer 11 · train · 11 · 10.0.0.7',
    'status: Ray: 1 worker copied; 2 hidden by the filter were left out',
  ]);
});

test('without a filter a command names the number of workers if there are several', async () => {
  const session = filtered(stopped(11), stopped(12), worker(13));
  const { commands, group } = await show(session);
  await run(commands, 'continueWorkers', group);
  await run(commands, 'attachWorkers', group);
  assert.deepEqual(session.asked, ['raydap/continue {"threads":[11,12]}', 'raydap/attach {"workers":["13"]}']);
  assert.deepEqual(seen, ['status: Ray: 2 workers continued']);
});

test('rows count the shown workers, and offer the actions that apply to them', async () => {
  const { tree, cluster, group, filter } = await show(filtered(stopped(11), stopped(12), worker(13)));
  assert.equal(tree.getTreeItem(cluster).description, '2 stopped, 1 paused');
  assert.match(tree.getTreeItem(cluster).contextValue ?? '', /continue\.attach/);
  await filter.set('rank:0');
  assert.equal(tree.getTreeItem(cluster).description, '1 stopped');
  assert.doesNotMatch(tree.getTreeItem(cluster).contextValue ?? '', /\.attach/);
  assert.match((tree.getTreeItem(group).tooltip as { value: string }).value, /: 1 stopped$/);
  assert.equal(tree.getTreeItem(group).contextValue, 'raydap.actor.continue.detach.session');
});
