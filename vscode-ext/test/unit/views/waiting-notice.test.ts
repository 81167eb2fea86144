/** Tests: when a notification says that workers wait for a debugger. */

import assert from 'node:assert/strict';
import { beforeEach, mock, test } from 'node:test';

import { ClusterConnection } from '../../../src/model/cluster-connection';
import { NODE_TIMERS } from '../../../src/model/timers';
import { WaitingNotice } from '../../../src/views/waiting-notice';
import { worker } from '../example';
import { answers, resetVscode, seen, settings } from '../fake-vscode';

interface Fixture {
  readonly connection: ClusterConnection;
  readonly view: { visible: boolean };
  readonly debugged: ClusterConnection[];
  /** Make this number of workers wait, and let the time pass after which the notification is shown. */
  readonly wait: (count: number) => Promise<void>;
}

function watching(): Fixture {
  const cluster = { id: '1', name: 'big', address: 'auto' };
  const connection = new ClusterConnection(cluster, {
    startWatcher: () => Promise.reject(new Error('There is no watcher.')),
    changed: () => undefined,
    now: () => 0,
    timers: NODE_TIMERS,
  });
  connection.status = { kind: 'watching' };
  const view = { visible: false };
  const debugged: ClusterConnection[] = [];
  const filter = { tallyOf: (_: unknown, group: { tally: object }) => group.tally };
  const notice = new WaitingNotice(view, filter as never, (each) => Promise.resolve(debugged.push(each)));
  const wait = async (count: number): Promise<void> => {
    connection.tree.replace(Array.from({ length: count }, (_, index) => worker(index + 1)));
    notice.update([connection]);
    mock.timers.tick(1_500);
    for (let turn = 0; turn < 10; turn++) {
      await Promise.resolve();
    }
  };
  return { connection, view, debugged, wait };
}

beforeEach(() => {
  resetVscode();
  mock.timers.reset();
  mock.timers.enable({ apis: ['setTimeout'] });
});

test('a notification says once how many workers wait, and again when workers wait anew', async () => {
  const { wait } = watching();
  await wait(3);
  await wait(4);
  assert.deepEqual(seen, ['information: 3 workers of big wait at breakpoint().']);
  await wait(0);
  await wait(1);
  assert.equal(seen.at(-1), 'information: 1 worker of big waits at breakpoint().');
});

test('the button of the notification debugs the cluster', async () => {
  const { wait, debugged, connection } = watching();
  answers.push('Debug');
  await wait(3);
  assert.deepEqual(debugged, [connection]);
});

test('the notification is off while the view lists the workers, during a session, and by the setting', async () => {
  const { wait, view, connection } = watching();
  view.visible = true;
  await wait(3);
  await wait(0);
  view.visible = false;
  connection.status = { kind: 'session' };
  await wait(3);
  connection.status = { kind: 'watching' };
  settings.notifyWaitingWorkers = false;
  await wait(3);
  assert.deepEqual(seen, []);
});

test("the notification's second button turns it off", async () => {
  const { wait } = watching();
  answers.push("Don't Show Again");
  await wait(3);
  assert.equal(settings.notifyWaitingWorkers, false);
});
