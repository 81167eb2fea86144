/** DAP's base protocol: messages to bytes and back (spec: Base Protocol). */

const SEPARATOR = Buffer.from('\r\n\r\n');

/** Far above the length of any message of raydap: a longer message comes from another program. */
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;
const MAX_HEADER_BYTES = 1024;

export function encode(message: unknown): Buffer {
  const body = Buffer.from(JSON.stringify(message));
  return Buffer.concat([Buffer.from(`Content-Length: ${body.length}\r\n\r\n`), body]);
}

/** Takes bytes in pieces of any size, and returns whole messages. */
export class Decoder {
  private pieces: Buffer[] = [];
  private held = 0;
  /** The number of bytes that the next message needs. */
  private needed = 0;

  /** Throws an Error on anything that is not DAP; nothing can be decoded after that. */
  decode(piece: Buffer): unknown[] {
    this.pieces.push(piece);
    this.held += piece.length;
    if (this.held < this.needed) {
      return [];
    }
    let rest = Buffer.concat(this.pieces);
    const messages: unknown[] = [];
    for (;;) {
      const end = rest.indexOf(SEPARATOR);
      if (end === -1) {
        if (rest.length > MAX_HEADER_BYTES) {
          throw new Error('a header without an end');
        }
        this.needed = 0;
        break;
      }
      const start = end + SEPARATOR.length;
      const length = lengthIn(rest.toString('latin1', 0, end));
      this.needed = start + length;
      if (rest.length < this.needed) {
        break;
      }
      messages.push(JSON.parse(rest.toString('utf8', start, this.needed)));
      rest = rest.subarray(this.needed);
    }
    this.pieces = [rest];
    this.held = rest.length;
    return messages;
  }
}

function lengthIn(header: string): number {
  const length = Number(/^Content-Length: *(\d+)$/im.exec(header)?.[1] ?? NaN);
  if (!(length <= MAX_MESSAGE_BYTES)) {
    throw new Error(`no length in the header "${header.slice(0, 80)}"`);
  }
  return length;
}
