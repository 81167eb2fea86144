import assert from 'node:assert/strict';
import { test } from 'node:test';

import { TokenStore } from '../../../src/model/token-store';

class Secrets extends Map<string, string> {
  store(key: string, value: string): Promise<void> {
    this.set(key, value);
    return Promise.resolve();
  }
}

class Memory {
  private readonly values = new Map<string, unknown>();

  get<T>(key: string, otherwise: T): T {
    return this.values.has(key) ? (this.values.get(key) as T) : otherwise;
  }

  update(key: string, value: unknown): Promise<void> {
    this.values.set(key, value);
    return Promise.resolve();
  }

  get text(): string {
    return JSON.stringify([...this.values]);
  }
}

function kept(): { tokens: TokenStore; memory: Memory; elsewhere: TokenStore } {
  const secrets = new Secrets();
  const memory = new Memory();
  const storage = {
    get: (key: string) => Promise.resolve(secrets.get(key)),
    store: (key: string, value: string) => secrets.store(key, value),
    delete: (key: string) => {
      secrets.delete(key);
      return Promise.resolve();
    },
  };
  const [tokens, elsewhere] = ['gpu1, ssh-remote, /job', 'gpu2, ssh-remote, /job'].map(
    (place) => new TokenStore(storage, memory, place),
  ) as [TokenStore, TokenStore];
  return { tokens, memory, elsewhere };
}

test('a token is stored for its own address only', async () => {
  const { tokens } = kept();
  await tokens.store('ws://a:1/dap', 'secret');
  assert.equal(await tokens.get('ws://a:1/dap'), 'secret');
  assert.equal(await tokens.get('ws://b:1/dap'), undefined);
});

test('addresses are listed once, and tokens are stored in the secret storage only', async () => {
  const { tokens, memory } = kept();
  await tokens.store('ws://a:1/dap', 'first');
  await tokens.store('ws://a:1/dap', 'second');
  assert.deepEqual(tokens.names(), ['ws://a:1/dap']);
  assert.equal(await tokens.get('ws://a:1/dap'), 'second');
  assert.ok(!memory.text.includes('second'));
});

test('deleting a token leaves the other tokens', async () => {
  const { tokens } = kept();
  await tokens.store('ws://a:1/dap', 'a');
  await tokens.store('ws://b:1/dap', 'b');
  await tokens.forget('ws://a:1/dap');
  assert.equal(await tokens.get('ws://a:1/dap'), undefined);
  assert.deepEqual(tokens.names(), ['ws://b:1/dap']);
});

test('an empty token is stored, too', async () => {
  const { tokens } = kept();
  await tokens.store('ws://a:1/dap', '');
  assert.equal(await tokens.get('ws://a:1/dap'), '');
});

test('the token of a loopback address is stored for one machine and folder', async () => {
  const { tokens, elsewhere } = kept();
  const local = [
    'ws://127.0.0.1:4711/dap',
    'ws://LOCALHOST:4711/dap',
    'tcp://[::1]:4711',
    'auto',
    'http://0.0.0.0:8265',
  ];
  for (const address of local) {
    await tokens.store(address, 'secret');
    assert.equal(await tokens.get(address), 'secret', address);
    assert.equal(await elsewhere.get(address), undefined, address);
  }
  await tokens.store('wss://head:4711/dap', 'shared');
  assert.equal(await elsewhere.get('wss://head:4711/dap'), 'shared');
});

test('a token that was stored for the address alone is not used at a loopback address, and can be forgotten', async () => {
  const { tokens, elsewhere, memory } = kept();
  await memory.update('raydap.tokens', ['ws://127.0.0.1:1']);
  await tokens.store('ws://127.0.0.1:1', 'here');
  assert.deepEqual(tokens.names(), ['ws://127.0.0.1:1', 'ws://127.0.0.1:1 (gpu1, ssh-remote, /job)']);
  await elsewhere.store('ws://127.0.0.1:1', 'there');
  await tokens.forget('ws://127.0.0.1:1 (gpu2, ssh-remote, /job)');
  assert.equal(await elsewhere.get('ws://127.0.0.1:1'), undefined);
  await tokens.forget('ws://127.0.0.1:1');
  assert.equal(await tokens.get('ws://127.0.0.1:1'), undefined);
  assert.deepEqual(tokens.names(), []);
});
