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

test('F5 offers attach, the current file and a job', () => {
  assert.deepEqual(
    OFFERED.map(({ configuration }) => configuration.name),
    ['Attach to Ray cluster', 'Debug current file on Ray', 'Submit as Ray job'],
  );
});

test('the open folder is where jobs come from and where programs run', () => {
  assert.deepEqual(withDefaults(SUBMIT_FILE, project), {
    ...SUBMIT_FILE,
    workspaceFolder: '/project',
    cwd: '/project',
    dashboard: 'http://head:8265',
  });
});

test('without a folder a program runs in its own', () => {
  assert.deepEqual(withDefaults(DEBUG_FILE, nowhere), { ...DEBUG_FILE, cwd: '${fileDirname}' });
  assert.deepEqual(withDefaults(ATTACH, nowhere), ATTACH);
});

test('what a configuration says is kept', () => {
  const said = { ...DEBUG_FILE, workspaceFolder: '/other', cwd: '/work', dashboard: 'auto' };
  assert.deepEqual(withDefaults(said, project), said);
});

test("the setting's dashboard is not added where others say which cluster", () => {
  for (const where of [{ workers: ['127.0.0.1:5678'] }, { hub: EXAMPLE }]) {
    assert.equal(withDefaults({ ...ATTACH, ...where }, project).dashboard, undefined);
  }
});

test('the offered configurations are never changed', () => {
  const before = structuredClone(ATTACH);
  withDefaults(ATTACH, project).job = 'mine';
  assert.deepEqual(ATTACH, before);
});

test("the hub's URL does not reach the bridge as an argument", () => {
  const configuration = withHub({ ...ATTACH, hub: EXAMPLE });
  assert.equal(hubOf(configuration), EXAMPLE);
  assert.deepEqual(
    Object.keys(configuration).filter((key) => !key.startsWith('__')),
    Object.keys(ATTACH),
  );
  assert.equal(hubOf(withHub(ATTACH)), undefined);
});

test('a hub that is no URL is refused with an example', () => {
  for (const hub of ['4711', 'localhost:4711', 'ws://127.0.0.1/dap', 4711, 'http://127.0.0.1:4711']) {
    assert.throws(() => withHub({ ...ATTACH, hub }), /ws:\/\//);
  }
});

test('each of the four schemes is a hub', () => {
  for (const url of [EXAMPLE, 'wss://head:443/dap', 'tcp://10.0.0.7:4711', 'tcps://[::1]:4711']) {
    assert.equal(hubUrlError(url), undefined);
  }
});

test('VS Code asks with an empty configuration if there is no launch.json', () => {
  assert.ok(isEmpty({}));
  assert.ok(!isEmpty(ATTACH));
});

test('a raydap that listens already is left to VS Code', () => {
  assert.ok(hasDebugServer({ ...ATTACH, debugServer: 5678 }));
  assert.ok(!hasDebugServer(ATTACH));
});

test('a token in the URL is refused, and not repeated in the message', () => {
  for (const url of ['ws://secret@head:4711/dap', 'ws://head:4711/dap?token=secret', 'ws://head:4711/dap#secret']) {
    const text = hubUrlError(url) ?? '';
    assert.match(text, /must not contain a token/);
    assert.ok(!text.includes('secret'));
  }
});

test('a client that joins a session of a hub says nothing of what is debugged', () => {
  const given = { ...ATTACH, hub: 'ws://a:1/dap', actor: 'Trainer*', workspaceFolder: '/mine', [JOIN]: true };
  assert.deepEqual(withDefaults(given, project), { ...ATTACH, hub: 'ws://a:1/dap', [JOIN]: true });
});
