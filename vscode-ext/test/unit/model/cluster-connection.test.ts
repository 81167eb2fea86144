import assert from 'node:assert/strict';
import { test } from 'node:test';

import { ClusterConnection } from '../../../src/model/cluster-connection';
import { ProblemError } from '../../../src/model/problem';
import type { WatcherListener, WorkerSource } from '../../../src/model/worker-source';
import { worker } from '../example';
import { FakeSource, settled } from '../fake-source';

/** The request for all workers. */
const LIST = 'raydap/workers {"all":true}';

const CLUSTER = { id: '1', name: 'big', address: 'http://10.0.0.7:8265' };

/** A single timer, which the test fires. */
class Alarm {
  private run: (() => void) | undefined;

  set(run: () => void): unknown {
    this.run = run;
    return run;
  }

  clear(timer: unknown): void {
    if (this.run === timer) {
      this.run = undefined;
    }
  }

  /** Fire the timer. Return false if it is not set. */
  ring(): boolean {
    const { run } = this;
    this.run = undefined;
    run?.();
    return run !== undefined;
  }
}

/** A connection with a fake environment. */
class Fixture {
  now = 0;
  readonly timers = new Alarm();
  readonly watchers: { source: FakeSource; listener: WatcherListener }[] = [];
  refusal: Error | undefined;
  readonly connection = new ClusterConnection(CLUSTER, {
    startWatcher: (_, listener): Promise<WorkerSource> => {
      if (this.refusal !== undefined) {
        return Promise.reject(this.refusal);
      }
      const source = new FakeSource();
      this.watchers.push({ source, listener });
      return Promise.resolve(source);
    },
    changed: () => undefined,
    now: () => this.now,
    timers: this.timers,
  });

  async watch(): Promise<{ source: FakeSource; listener: WatcherListener }> {
    this.connection.watch();
    return this.last();
  }

  async last(): Promise<{ source: FakeSource; listener: WatcherListener }> {
    await settled();
    const watcher = this.watchers.at(-1);
    assert.ok(watcher !== undefined);
    return watcher;
  }

  get keys(): string[] {
    return [...this.connection.tree.root.workers()].map((node) => `${node.worker.key} ${node.worker.state}`);
  }

  get status(): string {
    const { status } = this.connection;
    return status.kind === 'failed' ? status.problem.text : status.kind;
  }
}

test('no process starts before the cluster is to be watched', async () => {
  const fixture = new Fixture();
  assert.equal(fixture.status, 'idle');
  const { source } = await fixture.watch();
  assert.equal(fixture.status, 'connecting');
  assert.deepEqual(source.asked, [LIST]);
  await source.list(worker(1));
  assert.equal(fixture.status, 'watching');
  assert.deepEqual(fixture.keys, ['1 paused']);
});

test('a cluster that is watched already starts no second process', async () => {
  const fixture = new Fixture();
  const { source } = await fixture.watch();
  await source.list();
  await fixture.watch();
  assert.equal(fixture.watchers.length, 1);
});

test('an update that arrives before the list is applied after the list', async () => {
  const fixture = new Fixture();
  const { source, listener } = await fixture.watch();
  listener.workersChanged({ workers: [worker(1, { state: 'running' })], outage: '' });
  await source.list(worker(1), worker(2));
  assert.deepEqual(fixture.keys, ['1 running', '2 paused']);
});

test('a session replaces the watcher, and a new watcher replaces the session when it ends', async () => {
  const fixture = new Fixture();
  const { source } = await fixture.watch();
  await source.list(worker(1), worker(2));
  const session = new FakeSource('s');
  fixture.connection.addSession(session);
  assert.ok(source.closed);
  assert.equal(fixture.status, 'session');
  await session.list(worker(1, { state: 'stopped' }), worker(2));
  fixture.connection.workersChanged('s', { workers: [worker(2, { state: 'running' })], outage: '' });
  assert.deepEqual(fixture.keys, ['1 stopped', '2 running']);
  fixture.connection.removeSession('s');
  assert.deepEqual(fixture.keys, []);
  const again = await fixture.last();
  assert.notEqual(again.source, source);
  await again.source.list(worker(2));
  assert.deepEqual(fixture.keys, ['2 paused']);
});

test('when the session of an unwatched cluster ends, no process starts', async () => {
  const fixture = new Fixture();
  const session = new FakeSource('s');
  fixture.connection.addSession(session);
  await session.list(worker(1));
  fixture.connection.removeSession('s');
  await settled();
  assert.equal(fixture.status, 'idle');
  assert.equal(fixture.watchers.length, 0);
});

test('of two sessions the older one is the source, and after its end the other one', async () => {
  const fixture = new Fixture();
  const [one, two] = [new FakeSource('1'), new FakeSource('2')];
  fixture.connection.addSession(one);
  fixture.connection.addSession(two);
  await one.list(worker(1));
  fixture.connection.workersChanged('2', { workers: [worker(9)], outage: '' });
  assert.deepEqual(fixture.keys, ['1 paused']);
  fixture.connection.removeSession('1');
  assert.deepEqual(two.asked, [LIST]);
  await two.list(worker(9));
  assert.deepEqual(fixture.keys, ['1 paused', '9 paused'].slice(1));
});

test('late messages of a watcher are dropped after a session has begun', async () => {
  const fixture = new Fixture();
  const { source, listener } = await fixture.watch();
  fixture.connection.addSession(new FakeSource('s'));
  await source.list(worker(1));
  listener.workersChanged({ workers: [worker(2)], outage: '' });
  listener.ended({ text: 'raydap has ended.', actions: [] });
  assert.deepEqual(fixture.keys, []);
  assert.equal(fixture.status, 'session');
});

test('a failed watcher is a problem with a sentence, and the next call tries again', async () => {
  const fixture = new Fixture();
  fixture.refusal = new ProblemError({ text: 'raydap is not installed.', actions: ['install'] });
  fixture.connection.watch();
  await settled();
  assert.equal(fixture.status, 'raydap is not installed.');
  fixture.refusal = undefined;
  const { source } = await fixture.watch();
  await source.fail('No Ray cluster was found.');
  assert.equal(fixture.status, 'No Ray cluster was found.');
});

test('a watcher that ends after a long time is restarted, a watcher that ends immediately is not', async () => {
  const fixture = new Fixture();
  const { source, listener } = await fixture.watch();
  await source.list(worker(1));
  fixture.now = 61_000;
  listener.ended({ text: 'raydap has ended.', actions: [] });
  const again = await fixture.last();
  await again.source.list(worker(1));
  again.listener.ended({ text: 'raydap has ended.', actions: [] });
  assert.equal(fixture.status, 'raydap has ended.');
  assert.equal(fixture.watchers.length, 2);
});

test('during an outage the workers stay listed, with a sentence about the outage', async () => {
  const fixture = new Fixture();
  const { source, listener } = await fixture.watch();
  await source.listDuring('The dashboard does not answer.', worker(1));
  assert.equal(fixture.connection.outage, 'The dashboard does not answer.');
  assert.deepEqual(fixture.keys, ['1 paused']);
  listener.workersChanged({ workers: [], outage: '' });
  assert.equal(fixture.connection.outage, '');
  listener.workersChanged({ workers: [], outage: 'Gone.' });
  fixture.connection.addSession(new FakeSource('s'));
  assert.equal(fixture.connection.outage, '');
});

const NO_ANSWER = 'raydap did not answer within 60 seconds. Check the log, or choose another interpreter.';

test('a watcher that does not start in time fails', async () => {
  const fixture = new Fixture();
  const hanging = new ClusterConnection(CLUSTER, {
    startWatcher: () => new Promise(() => undefined),
    changed: () => undefined,
    now: () => 0,
    timers: fixture.timers,
  });
  hanging.watch();
  await settled();
  assert.ok(fixture.timers.ring());
  assert.ok(hanging.status.kind === 'failed');
  assert.equal(hanging.status.problem.text, NO_ANSWER);
});

test('a watcher that does not answer in time is ended, and its late messages are dropped', async () => {
  const fixture = new Fixture();
  const { source } = await fixture.watch();
  assert.ok(fixture.timers.ring());
  assert.equal(fixture.status, NO_ANSWER);
  assert.ok(source.closed);
  await source.list(worker(1));
  assert.deepEqual(fixture.keys, []);
  const again = await fixture.watch();
  await again.source.list(worker(1));
  assert.equal(fixture.status, 'watching');
});

test('the time limit ends when the watcher has answered or failed, or a session has replaced it', async () => {
  for (const end of [
    async (source: FakeSource) => source.list(),
    async (source: FakeSource) => source.fail('No.'),
    async (_: FakeSource, connection: ClusterConnection) => {
      connection.addSession(new FakeSource('s'));
      await settled();
    },
    async (_: FakeSource, connection: ClusterConnection) => {
      connection.close();
      await settled();
    },
  ]) {
    const fixture = new Fixture();
    const { source } = await fixture.watch();
    await end(source, fixture.connection);
    assert.ok(!fixture.timers.ring());
  }
});

test("when a hub's session is replaced, the new session is watched", async () => {
  const fixture = new Fixture();
  const { source, listener } = await fixture.watch();
  await source.list(worker(1));
  listener.replaced();
  const again = await fixture.last();
  await again.source.list(worker(2));
  assert.deepEqual(fixture.keys, ['2 paused']);
});

test('a request to attach waits until the session lists the worker', async () => {
  const fixture = new Fixture();
  const session = new FakeSource('s');
  await fixture.connection.attach(['1']);
  fixture.connection.addSession(session);
  await session.list();
  assert.deepEqual(session.asked, [LIST]);
  fixture.connection.workersChanged('s', { workers: [worker(1)], outage: '' });
  assert.deepEqual(session.asked, [LIST, 'raydap/attach {"workers":["1"]}']);
  fixture.connection.workersChanged('s', { workers: [worker(1, { state: 'attaching' })], outage: '' });
  assert.equal(session.asked.length, 2);
});

test('a request to pause waits until the session lists the worker', async () => {
  const fixture = new Fixture();
  const session = new FakeSource('s');
  await fixture.connection.attach(['1', '2'], 'raydap/pause');
  await fixture.connection.attach(['3']);
  fixture.connection.addSession(session);
  await session.list(worker(1), worker(3));
  assert.deepEqual(session.asked, [LIST, 'raydap/attach {"workers":["3"]}', 'raydap/pause {"workers":["1"]}']);
  fixture.connection.workersChanged('s', { workers: [worker(2)], outage: '' });
  assert.deepEqual(session.asked.slice(3), ['raydap/pause {"workers":["2"]}']);
});

test('a closed connection reports no further changes', async () => {
  const fixture = new Fixture();
  const { source } = await fixture.watch();
  fixture.connection.close();
  assert.ok(source.closed);
  await source.list(worker(1));
  assert.deepEqual(fixture.keys, []);
  await assert.rejects(fixture.connection.request('raydap/continue', {}), /big is not connected/);
});
