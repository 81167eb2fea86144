/** Tests: the watcher with processes that answer like raydap, and with others. */

import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { test } from 'node:test';

import { ProblemError, type Problem } from '../../../src/model/problem';
import { WatcherProcess } from '../../../src/process/watcher-process';
import type { WorkerEntry } from '../../../src/protocol/messages';

/** Return the script of a fake raydap. `answer` is its function for each request; `asked` are the commands so far. */
function raydap(answer: string): string {
  return `
    let held = Buffer.alloc(0);
    const asked = [];
    const send = (message) => {
      const body = Buffer.from(JSON.stringify(message));
      process.stdout.write('Content-Length: ' + body.length + '\\r\\n\\r\\n' + body);
    };
    const event = (event, body) => send({ type: 'event', seq: 0, event, body });
    const respond = ({ seq, command }, body, success = true) =>
      send({ type: 'response', seq: 0, request_seq: seq, command, success, body });
    process.stdin.on('data', (piece) => {
      held = Buffer.concat([held, piece]);
      for (;;) {
        const end = held.indexOf('\\r\\n\\r\\n');
        if (end === -1) return;
        const length = Number(/\\d+/.exec(held.toString('latin1', 0, end))[0]);
        if (held.length < end + 4 + length) return;
        const message = JSON.parse(held.toString('utf8', end + 4, end + 4 + length));
        held = held.subarray(end + 4 + length);
        asked.push(message.command);
        (${answer})(message);
      }
    });
    process.stdin.on('end', () => process.exit(0));`;
}

const PROPER = `(message) => {
  if (message.command === 'attach') {
    event('initialized');
    global.attach = message;
  } else if (message.command === 'configurationDone') {
    respond(message);
    respond(global.attach);
  } else if (message.command === 'raydap/workers') {
    respond(message, { workers: [{ key: 'a', name: asked.join(), task: JSON.stringify(global.attach.arguments) }] });
    event('raydap/workersChanged', { workers: [{ key: 'b' }] });
  } else {
    respond(message, { echoed: message.arguments });
  }
}`;

interface Watched {
  readonly watcher: WatcherProcess;
  readonly changed: Promise<readonly WorkerEntry[]>;
  readonly initialized: Promise<unknown>;
  readonly ended: Promise<Problem>;
  readonly replaced: Promise<unknown>;
}

/** Start a watcher of this script. It is closed after the test. */
function watch(script: string, after: (end: () => void) => void, command = process.execPath): Watched {
  const emitter = new EventEmitter();
  const watcher = WatcherProcess.start({
    command: { command, args: ['-e', script], env: {} },
    cwd: __dirname,
    attach: { first: { autoAttach: false }, join: { joined: true } },
    listener: {
      workersChanged: ({ workers }) => emitter.emit('changed', workers),
      ended: (problem) => emitter.emit('ended', problem),
      replaced: () => emitter.emit('replaced'),
    },
    onInitialize: (body) => emitter.emit('initialized', body),
  });
  after(() => {
    watcher.close();
  });
  const first = async <T>(what: string): Promise<T> => ((await once(emitter, what)) as [T])[0];
  return {
    watcher,
    changed: first('changed'),
    ended: first('ended'),
    replaced: first('replaced'),
    initialized: first('initialized'),
  };
}

test('a watcher attaches in the order of DAP, and reports changes', async (t) => {
  const { watcher, changed } = watch(raydap(PROPER), t.after.bind(t));
  const [worker] = (await watcher.request('raydap/workers', {})).workers;
  assert.equal(worker?.name, 'initialize,attach,configurationDone,raydap/workers');
  assert.equal(worker.task, '{"autoAttach":false}');
  assert.deepEqual(await changed, [{ key: 'b' }]);
  assert.deepEqual(await watcher.request('raydap/continue', { threads: [1] }), { echoed: { threads: [1] } });
});

test('the answer to initialize is passed on, because it contains the version', async (t) => {
  const versioned = `(message) => message.command === 'initialize'
    ? respond(message, { raydap: { version: '1.2.3', protocol: 1 } }) : (${PROPER})(message)`;
  const { initialized } = watch(raydap(versioned), t.after.bind(t));
  assert.deepEqual(await initialized, { raydap: { version: '1.2.3', protocol: 1 } });
});

test('a refused attach fails with the sentence and the actions', async (t) => {
  const refuse = `(message) => message.command === 'attach'
    ? respond(message, { error: { id: 2004, format: 'It wants a token.' } }, false) : respond(message)`;
  const { watcher } = watch(raydap(refuse), t.after.bind(t));
  await assert.rejects(watcher.request('raydap/workers', {}), (error) => {
    assert.ok(error instanceof ProblemError);
    assert.deepEqual(error.problem, { text: 'It wants a token.', actions: ['enterClusterToken'] });
    return true;
  });
});

test("a watcher joins a hub's session that has begun with other arguments", async (t) => {
  const other = `(message) => message.command === 'attach' && message.arguments.joined === undefined
    ? respond(message, { error: { id: 1007, format: 'It debugs something else.' } }, false) : (${PROPER})(message)`;
  const { watcher } = watch(raydap(other), t.after.bind(t));
  const body = await watcher.request('raydap/workers', {});
  assert.equal(body.workers[0]?.task, '{"joined":true}');
});

test("the end of a hub's session is reported, so that the next one can be watched", async (t) => {
  const over = `(message) => { respond(message); event('terminated'); }`;
  const { watcher, replaced } = watch(raydap(over), t.after.bind(t));
  await replaced;
  await assert.rejects(watcher.request('raydap/workers', {}), /no longer being watched/);
});

test('a refused request fails, and later requests do not', async (t) => {
  const refuse = `(message) => message.command === 'raydap/detach'
    ? respond(message, { error: { id: 1006, format: 'It is gone.' } }, false) : (${PROPER})(message)`;
  const { watcher } = watch(raydap(refuse), t.after.bind(t));
  await assert.rejects(watcher.request('raydap/detach', { workers: [] }), /It is gone/);
  assert.deepEqual(await watcher.request('raydap/continue', {}), { echoed: {} });
});

test('output that is not DAP is a problem', async (t) => {
  const { watcher, ended } = watch(`console.log('Hello\\r\\n\\r\\n'); setInterval(() => 0, 1000)`, t.after.bind(t));
  assert.match((await ended).text, /is not that of raydap/);
  await assert.rejects(watcher.request('raydap/workers', {}));
});

test('the end of the process is a problem with its last line of stderr', async (t) => {
  const { watcher, ended } = watch(`console.error('No module\\nnamed raydap'); process.exit(1)`, t.after.bind(t));
  const refused = assert.rejects(watcher.request('raydap/workers', {}));
  assert.equal((await ended).text, 'raydap has ended: named raydap');
  await refused;
});

test('the end of the process without output is a problem', async (t) => {
  const { ended } = watch('process.exit(3)', t.after.bind(t));
  assert.equal((await ended).text, 'raydap exited with code 3 before the session started.');
});

test('a command that does not exist is a problem', async (t) => {
  const { ended } = watch('', t.after.bind(t), '/nowhere/python');
  assert.match((await ended).text, /could not be started: .*ENOENT/);
});

test('an answer with 500 workers is read completely', async (t) => {
  const many = `(message) => message.command === 'raydap/workers'
    ? respond(message, { workers: Array.from({ length: 500 }, (_, key) => ({ key, name: 'é'.repeat(300) })) })
    : (${PROPER})(message)`;
  const { watcher } = watch(raydap(many), t.after.bind(t));
  const { workers } = await watcher.request('raydap/workers', {});
  assert.equal(workers.length, 500);
  assert.equal(workers[499]?.name, 'é'.repeat(300));
});
