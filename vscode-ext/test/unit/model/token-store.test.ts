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

function kept(): { tokens: TokenStore; memory: Memory } {
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
  return { tokens: new TokenStore(storage, memory), memory };
}

test('a token is kept for its own address only', async () => {
  const { tokens } = kept();
  await tokens.store('ws://a:1/dap', 'secret');
  assert.equal(await tokens.get('ws://a:1/dap'), 'secret');
  assert.equal(await tokens.get('ws://b:1/dap'), undefined);
});

test('addresses are remembered once, tokens never outside the secret storage', async () => {
  const { tokens, memory } = kept();
  await tokens.store('ws://a:1/dap', 'first');
  await tokens.store('ws://a:1/dap', 'second');
  assert.deepEqual(tokens.addresses(), ['ws://a:1/dap']);
  assert.equal(await tokens.get('ws://a:1/dap'), 'second');
  assert.ok(!memory.text.includes('second'));
});

test('a forgotten token is asked for again, the others stay', async () => {
  const { tokens } = kept();
  await tokens.store('ws://a:1/dap', 'a');
  await tokens.store('ws://b:1/dap', 'b');
  await tokens.forget('ws://a:1/dap');
  assert.equal(await tokens.get('ws://a:1/dap'), undefined);
  assert.deepEqual(tokens.addresses(), ['ws://b:1/dap']);
});

test('that there is no token is remembered, too', async () => {
  const { tokens } = kept();
  await tokens.store('ws://a:1/dap', '');
  assert.equal(await tokens.get('ws://a:1/dap'), '');
});
