import assert from 'node:assert/strict';
import { test } from 'node:test';

import {
  ATTACH,
  DEBUG_FILE,
  hasDebugServer,
  hubOf,
  isEmpty,
  JOIN,
  OFFERED,
  SUBMIT_FILE,
  withDefaults,
  withHub,
} from '../../../src/model/configuration';
import { EXAMPLE, hubUrlError } from '../../../src/model/hub-url';

const nowhere = { workspaceFolder: undefined, dashboard: undefined };
const project = { workspaceFolder: '/project', dashboard: 'http://head:8265' };

test('F5 offers to attach, to debug the current file and to submit it as a job', () => {
  assert.deepEqual(
    OFFERED.map(({ configuration }) => configuration.name),
    ['Attach to Ray cluster', 'Debug current file on Ray', 'Submit as Ray job'],
  );
});

test('the open folder is the default of workspaceFolder and cwd', () => {
  assert.deepEqual(withDefaults(SUBMIT_FILE, project), {
    ...SUBMIT_FILE,
    workspaceFolder: '/project',
    cwd: '/project',
    dashboard: 'http://head:8265',
  });
});

test('without an open folder a program runs in the folder of its file', () => {
  assert.deepEqual(withDefaults(DEBUG_FILE, nowhere), { ...DEBUG_FILE, cwd: '${fileDirname}' });
  assert.deepEqual(withDefaults(ATTACH, nowhere), ATTACH);
});

test('values in a configuration are not replaced by defaults', () => {
  const said = { ...DEBUG_FILE, workspaceFolder: '/other', cwd: '/work', dashboard: 'auto' };
  assert.deepEqual(withDefaults(said, project), said);
});

test('the setting raydap.dashboard is not added to a configuration that names its cluster or workers', () => {
  for (const where of [{ workers: ['127.0.0.1:5678'] }, { hub: EXAMPLE }]) {
    assert.equal(withDefaults({ ...ATTACH, ...where }, project).dashboard, undefined);
  }
});

test('completing a configuration does not change the offered one', () => {
  const before = structuredClone(ATTACH);
  withDefaults(ATTACH, project).job = 'mine';
  assert.deepEqual(ATTACH, before);
});

test('the URL of a hub is not passed to raydap as an argument', () => {
  const configuration = withHub({ ...ATTACH, hub: EXAMPLE });
  assert.equal(hubOf(configuration), EXAMPLE);
  assert.deepEqual(
    Object.keys(configuration).filter((key) => !key.startsWith('__')),
    Object.keys(ATTACH),
  );
  assert.equal(hubOf(withHub(ATTACH)), undefined);
});

test('a hub that is not a URL is refused, and the message contains an example', () => {
  for (const hub of ['4711', 'localhost:4711', 'ws://127.0.0.1/dap', 4711, 'http://127.0.0.1:4711']) {
    assert.throws(() => withHub({ ...ATTACH, hub }), /ws:\/\//);
  }
});

test('URLs of the four schemes are those of hubs', () => {
  for (const url of [EXAMPLE, 'wss://head:443/dap', 'tcp://10.0.0.7:4711', 'tcps://[::1]:4711']) {
    assert.equal(hubUrlError(url), undefined);
  }
});

test('a configuration without a request is the one VS Code passes without a launch.json', () => {
  assert.ok(isEmpty({}));
  assert.ok(!isEmpty(ATTACH));
});

test('a configuration with debugServer gets no defaults', () => {
  assert.ok(hasDebugServer({ ...ATTACH, debugServer: 5678 }));
  assert.ok(!hasDebugServer(ATTACH));
});

test('a token in the URL of a hub is refused, and the message does not repeat it', () => {
  for (const url of ['ws://secret@head:4711/dap', 'ws://head:4711/dap?token=secret', 'ws://head:4711/dap#secret']) {
    const text = hubUrlError(url) ?? '';
    assert.match(text, /must not contain a token/);
    assert.ok(!text.includes('secret'));
  }
});

test("a client that joins a hub's session sends no arguments about what is debugged", () => {
  const given = { ...ATTACH, hub: 'ws://a:1/dap', actor: 'Trainer*', workspaceFolder: '/mine', [JOIN]: true };
  assert.deepEqual(withDefaults(given, project), { ...ATTACH, hub: 'ws://a:1/dap', [JOIN]: true });
});
