/** Tests: which rows of the Ray view are redrawn. VS Code loses a click on a row that is being redrawn. */

import assert from 'node:assert/strict';
import { beforeEach, mock, test } from 'node:test';

import type { ClusterConnection } from '../../../src/model/cluster-connection';
import { GroupNode, WorkerNode } from '../../../src/model/worker-tree';
import type { WorkerEntry } from '../../../src/protocol/messages';
import { ClusterFilter } from '../../../src/views/cluster-filter';
import { ClusterTree } from '../../../src/views/cluster-tree';
import type { Element } from '../../../src/views/tree-elements';
import { thread, worker } from '../example';
import { begin, FakeSession } from '../fake-sessions';
import { resetVscode } from '../fake-vscode';

function stopped(id: number, place = ''): WorkerEntry {
  return worker(id, { state: 'stopped', threads: [thread(id, { place })] });
}

interface Fixture {
  readonly tree: ClusterTree;
  readonly connection: ClusterConnection;
  /** Update these workers, and return the elements that are redrawn, `all` for the whole view. */
  readonly update: (...workers: WorkerEntry[]) => string[];
  readonly redrawn: string[];
}

/** Return the view as VS Code has drawn it, with two stopped workers. */
async function drawn(): Promise<Fixture> {
  const { registry } = await begin(new FakeSession('one', [stopped(11), stopped(12)]));
  const [connection] = registry.all;
  assert.ok(connection !== undefined);
  const tree = new ClusterTree(registry, new ClusterFilter(registry));
  const redrawn: string[] = [];
  const draw = (element?: Element): void => {
    if (element !== undefined) {
      tree.getTreeItem(element);
    }
    tree.getChildren(element).forEach(draw);
  };
  draw();
  tree.update(new Set([connection]));
  draw();
  tree.onDidChangeTreeData((elements) => {
    redrawn.push(...(elements === undefined ? ['all'] : elements.map(nameOf)));
    elements?.forEach(draw);
  });
  const update = (...workers: WorkerEntry[]): string[] => {
    redrawn.length = 0;
    connection.tree.apply(workers);
    tree.update(new Set([connection]));
    return [...redrawn];
  };
  return { tree, connection, update, redrawn };
}

function nameOf(element: Element): string {
  return element instanceof WorkerNode ? element.worker.key : element instanceof GroupNode ? element.name : 'cluster';
}

beforeEach(() => {
  resetVscode();
  mock.timers.reset();
  mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 1_000_000 });
});

test('a worker whose row alone changes is redrawn alone', async () => {
  const { update, redrawn, tree } = await drawn();
  assert.deepEqual(update(stopped(11, 'train.py:42')), ['11']);
  mock.timers.tick(10_000);
  assert.deepEqual(redrawn, ['11']);
  tree.dispose();
});

test('a worker that has returned to its state before the update redraws no row', async () => {
  const { update, redrawn, tree } = await drawn();
  assert.deepEqual(update(worker(11, { state: 'running' }), stopped(11)), []);
  mock.timers.tick(10_000);
  assert.deepEqual(redrawn, []);
  tree.dispose();
});

test('a group is redrawn after its workers, at most once a second, and not if it has changed back', async () => {
  const { update, redrawn, tree } = await drawn();
  assert.deepEqual(update(worker(11, { state: 'running' })), ['11']);
  mock.timers.tick(1);
  assert.deepEqual(redrawn, ['11', 'cluster']);
  assert.deepEqual(update(worker(12, { state: 'running' })), ['12']);
  mock.timers.tick(500);
  assert.deepEqual(redrawn, ['12']);
  mock.timers.tick(500);
  assert.deepEqual(redrawn, ['12', 'cluster']);
  update(stopped(12));
  update(worker(12, { state: 'running' }));
  mock.timers.tick(1_000);
  assert.deepEqual(redrawn, ['12']);
  tree.dispose();
});

test('many workers are redrawn once, with their group', async () => {
  const { update, redrawn, tree } = await drawn();
  const many = Array.from({ length: 30 }, (_, index) => stopped(20 + index));
  update(...many);
  mock.timers.tick(1_000);
  assert.deepEqual(update(...many.map(({ pid }) => stopped(pid, 'train.py:42'))), []);
  mock.timers.tick(1_000);
  assert.equal(redrawn.length, 30);
  assert.deepEqual(update(...many.map(({ pid }) => worker(pid, { state: 'running' }))), []);
  mock.timers.tick(1_000);
  assert.deepEqual(redrawn, ['cluster']);
  tree.dispose();
});

test('a click passes the key of its worker, which VS Code cannot lose', async () => {
  const { tree, connection } = await drawn();
  const node = connection.tree.get('11');
  assert.ok(node !== undefined);
  assert.deepEqual(tree.getTreeItem(node).command?.arguments, ['11']);
  tree.dispose();
});
