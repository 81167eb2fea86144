import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Live, watching, type Session } from '../../src/bridge/live';
import { Refused, type Listener, type Source } from '../../src/bridge/watcher';
import type { Worker } from '../../src/bridge/worker';
import { worker } from './example';

const CLUSTER = { id: '1', name: 'big', address: 'http://10.0.0.7:8265' };

/** A source whose answers are given by the test. */
class Told implements Session {
  readonly asked: string[] = [];
  closed = false;
  private answer: (body: unknown) => void = () => undefined;
  private refuse: (error: Error) => void = () => undefined;

  constructor(readonly id = '') {}

  request(command: string, args?: object): Promise<unknown> {
    this.asked.push(args === undefined ? command : `${command} ${JSON.stringify(args)}`);
    return new Promise((resolve, reject) => {
      this.answer = resolve;
      this.refuse = reject;
    });
  }

  async list(...workers: Worker[]): Promise<void> {
    this.answer({ workers, outage: '' });
    await settled();
  }

  async listDuring(outage: string, ...workers: Worker[]): Promise<void> {
    this.answer({ workers, outage });
    await settled();
  }

  async fail(text: string): Promise<void> {
    this.refuse(new Error(text));
    await settled();
  }

  close(): void {
    this.closed = true;
  }
}

/** A single timer, which goes off when the test says so. */
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

  /** False if it is not set. */
  ring(): boolean {
    const { run } = this;
    this.run = undefined;
    run?.();
    return run !== undefined;
  }
}

/** Until all promises that can go on have done so. */
async function settled(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

class Place {
  now = 0;
  readonly timers = new Alarm();
  readonly watchers: { source: Told; listener: Listener }[] = [];
  refusal: Error | undefined;
  readonly live = new Live(CLUSTER, {
    watch: (_, listener): Promise<Source> => {
      if (this.refusal !== undefined) {
        return Promise.reject(this.refusal);
      }
      const source = new Told();
      this.watchers.push({ source, listener });
      return Promise.resolve(source);
    },
    changed: () => undefined,
    now: () => this.now,
    timers: this.timers,
  });

  async look(): Promise<{ source: Told; listener: Listener }> {
    this.live.look();
    return this.last();
  }

  async last(): Promise<{ source: Told; listener: Listener }> {
    await settled();
    const watcher = this.watchers.at(-1);
    assert.ok(watcher !== undefined);
    return watcher;
  }

  get keys(): string[] {
    return [...this.live.fleet.root.leaves()].map((leaf) => `${leaf.worker.key} ${leaf.worker.state}`);
  }

  get status(): string {
    const { status } = this.live;
    return status.kind === 'failed' ? status.problem.text : status.kind;
  }
}

test('nothing is started before somebody looks', async () => {
  const place = new Place();
  assert.equal(place.status, 'idle');
  const { source } = await place.look();
  assert.equal(place.status, 'connecting');
  assert.deepEqual(source.asked, ['raydap/workers']);
  await source.list(worker(1));
  assert.equal(place.status, 'watching');
  assert.deepEqual(place.keys, ['1 paused']);
});

test('looking again starts nothing again', async () => {
  const place = new Place();
  const { source } = await place.look();
  await source.list();
  await place.look();
  assert.equal(place.watchers.length, 1);
});

test('a change that overtakes the list is applied after it', async () => {
  const place = new Place();
  const { source, listener } = await place.look();
  listener.heard({ workers: [worker(1, { state: 'running' })] });
  await source.list(worker(1), worker(2));
  assert.deepEqual(place.keys, ['1 running', '2 paused']);
});

test('a session takes the place of the watcher, and gives it back', async () => {
  const place = new Place();
  const { source } = await place.look();
  await source.list(worker(1), worker(2));
  const session = new Told('s');
  place.live.begun(session);
  assert.ok(source.closed);
  assert.equal(place.status, 'session');
  await session.list(worker(1, { state: 'stopped' }), worker(2));
  place.live.heard('s', { workers: [worker(2, { state: 'running' })] });
  assert.deepEqual(place.keys, ['1 stopped', '2 running']);
  place.live.ended('s');
  assert.deepEqual(place.keys, []);
  const again = await place.last();
  assert.notEqual(again.source, source);
  await again.source.list(worker(2));
  assert.deepEqual(place.keys, ['2 paused']);
});

test('after a session that nobody looked at, nothing is started', async () => {
  const place = new Place();
  const session = new Told('s');
  place.live.begun(session);
  await session.list(worker(1));
  place.live.ended('s');
  await settled();
  assert.equal(place.status, 'idle');
  assert.equal(place.watchers.length, 0);
});

test('of two sessions the older one is listened to, then the other', async () => {
  const place = new Place();
  const [one, two] = [new Told('1'), new Told('2')];
  place.live.begun(one);
  place.live.begun(two);
  await one.list(worker(1));
  place.live.heard('2', { workers: [worker(9)] });
  assert.deepEqual(place.keys, ['1 paused']);
  place.live.ended('1');
  assert.deepEqual(two.asked, ['raydap/workers']);
  await two.list(worker(9));
  assert.deepEqual(place.keys, ['1 paused', '9 paused'].slice(1));
});

test('what a watcher says after a session began comes too late', async () => {
  const place = new Place();
  const { source, listener } = await place.look();
  place.live.begun(new Told('s'));
  await source.list(worker(1));
  listener.heard({ workers: [worker(2)] });
  listener.ended({ text: 'raydap has ended.', steps: [] });
  assert.deepEqual(place.keys, []);
  assert.equal(place.status, 'session');
});

test('what cannot be watched is a sentence, and is tried again when somebody looks', async () => {
  const place = new Place();
  place.refusal = new Refused({ text: 'raydap is not installed.', steps: ['install'] });
  place.live.look();
  await settled();
  assert.equal(place.status, 'raydap is not installed.');
  place.refusal = undefined;
  const { source } = await place.look();
  await source.fail('No Ray cluster was found.');
  assert.equal(place.status, 'No Ray cluster was found.');
});

test('a watcher that ends after a long time is started again, one that ends at once is not', async () => {
  const place = new Place();
  const { source, listener } = await place.look();
  await source.list(worker(1));
  place.now = 61_000;
  listener.ended({ text: 'raydap has ended.', steps: [] });
  const again = await place.last();
  await again.source.list(worker(1));
  again.listener.ended({ text: 'raydap has ended.', steps: [] });
  assert.equal(place.status, 'raydap has ended.');
  assert.equal(place.watchers.length, 2);
});

test('a cluster that does not answer keeps its workers, and says so until it does', async () => {
  const place = new Place();
  const { source, listener } = await place.look();
  await source.listDuring('The dashboard does not answer.', worker(1));
  assert.equal(place.live.outage, 'The dashboard does not answer.');
  assert.deepEqual(place.keys, ['1 paused']);
  listener.heard({ workers: [], outage: '' });
  assert.equal(place.live.outage, '');
  listener.heard({ workers: [], outage: 'Gone.' });
  place.live.begun(new Told('s'));
  assert.equal(place.live.outage, '');
});

const SILENT = 'raydap has not answered within 60 seconds.';

test('a watcher that is never started is given up', async () => {
  const place = new Place();
  const hanging = new Live(CLUSTER, {
    watch: () => new Promise(() => undefined),
    changed: () => undefined,
    now: () => 0,
    timers: place.timers,
  });
  hanging.look();
  await settled();
  assert.ok(place.timers.ring());
  assert.ok(hanging.status.kind === 'failed');
  assert.equal(hanging.status.problem.text, SILENT);
});

test('a watcher that never answers is given up and ended, and what it says later is too late', async () => {
  const place = new Place();
  const { source } = await place.look();
  assert.ok(place.timers.ring());
  assert.equal(place.status, SILENT);
  assert.ok(source.closed);
  await source.list(worker(1));
  assert.deepEqual(place.keys, []);
  const again = await place.look();
  await again.source.list(worker(1));
  assert.equal(place.status, 'watching');
});

test('a watcher that has answered or failed, and one that a session replaces, is not waited for', async () => {
  for (const end of [
    async (source: Told) => source.list(),
    async (source: Told) => source.fail('No.'),
    async (_: Told, live: Live) => {
      live.begun(new Told('s'));
      await settled();
    },
    async (_: Told, live: Live) => {
      live.close();
      await settled();
    },
  ]) {
    const place = new Place();
    const { source } = await place.look();
    await end(source, place.live);
    assert.ok(!place.timers.ring());
  }
});

test("what has taken the place of a hub's session is watched instead", async () => {
  const place = new Place();
  const { source, listener } = await place.look();
  await source.list(worker(1));
  listener.replaced();
  const again = await place.last();
  await again.source.list(worker(2));
  assert.deepEqual(place.keys, ['2 paused']);
});

test('a worker that is to be attached is waited for', async () => {
  const place = new Place();
  const session = new Told('s');
  await place.live.attach(['1']);
  place.live.begun(session);
  await session.list();
  assert.deepEqual(session.asked, ['raydap/workers']);
  place.live.heard('s', { workers: [worker(1)] });
  assert.deepEqual(session.asked, ['raydap/workers', 'raydap/attach {"workers":["1"]}']);
  place.live.heard('s', { workers: [worker(1, { state: 'attaching' })] });
  assert.equal(session.asked.length, 2);
});

test('what is closed says nothing more', async () => {
  const place = new Place();
  const { source } = await place.look();
  place.live.close();
  assert.ok(source.closed);
  await source.list(worker(1));
  assert.deepEqual(place.keys, []);
  await assert.rejects(place.live.request('raydap/continue'), /big is not connected/);
});

test('a watcher attaches to nobody, and only looks at a hub', () => {
  assert.deepEqual(watching(CLUSTER, '/project'), { first: { dashboard: CLUSTER.address, autoAttach: false } });
  const hub = { ...CLUSTER, address: 'ws://a:1/dap' };
  const join = { autoAttach: false, role: 'observer' };
  assert.deepEqual(watching(hub), { first: join });
  assert.deepEqual(watching(hub, '/project'), { first: { ...join, workspaceFolder: '/project' }, join });
});
