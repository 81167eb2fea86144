import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Decoder, encode } from '../../../src/protocol/framing';

const messages = [
  { type: 'event', event: 'initialized' },
  { type: 'event', body: { name: 'Größe · 1' } },
];
const bytes = Buffer.concat(messages.map(encode));

test('encoded messages are decoded', () => {
  assert.deepEqual(new Decoder().decode(bytes), messages);
});

test('messages that arrive byte by byte are decoded', () => {
  const decoder = new Decoder();
  const read = [...bytes].flatMap((byte) => decoder.decode(Buffer.from([byte])));
  assert.deepEqual(read, messages);
});

test('messages that are cut at any place are decoded', () => {
  for (let cut = 0; cut <= bytes.length; cut++) {
    const decoder = new Decoder();
    assert.deepEqual([...decoder.decode(bytes.subarray(0, cut)), ...decoder.decode(bytes.subarray(cut))], messages);
  }
});

test('other headers are ignored', () => {
  const [decoded] = new Decoder().decode(Buffer.from('Content-Type: x\r\ncontent-length: 2\r\n\r\n{}'));
  assert.deepEqual(decoded, {});
});

test('bytes that are not DAP are an error', () => {
  const bad = [
    'Content-Length: -1\r\n\r\n',
    'Content-Length: 99999999999\r\n\r\n',
    'Hello\r\n\r\n',
    'Content-Length: 2\r\n\r\n{{',
    'x'.repeat(2000),
  ];
  for (const text of bad) {
    assert.throws(() => new Decoder().decode(Buffer.from(text)), text);
  }
});
