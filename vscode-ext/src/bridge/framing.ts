/** DAP's base protocol: messages to bytes and back (spec: Base Protocol). */

const SEPARATOR = Buffer.from('\r\n\r\n');

/** No message of the bridge comes near it; whatever does is no bridge. */
const LARGEST = 64 * 1024 * 1024;
const LONGEST_HEADER = 1024;

export function encode(message: unknown): Buffer {
  const body = Buffer.from(JSON.stringify(message));
  return Buffer.concat([Buffer.from(`Content-Length: ${body.length}\r\n\r\n`), body]);
}

/** Bytes in pieces of any size in, whole messages out. */
export class Decoder {
  private pieces: Buffer[] = [];
  private held = 0;
  /** Bytes without which nothing new can be found. */
  private needed = 0;

  /** Raises an Error on anything that is not DAP; there is no way to go on after it. */
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
        if (rest.length > LONGEST_HEADER) {
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
  if (!(length <= LARGEST)) {
    throw new Error(`no length in the header "${header.slice(0, 80)}"`);
  }
  return length;
}
