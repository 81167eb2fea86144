/** DAP's base protocol: messages to bytes and back (spec: Base Protocol). */

const SEPARATOR = Buffer.from('\r\n\r\n');

/** The limit is far above the length of any message of raydap: a longer message comes from another program. */
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;
const MAX_HEADER_BYTES = 1024;

export function encode(message: unknown): Buffer {
  const body = Buffer.from(JSON.stringify(message));
  return Buffer.concat([Buffer.from(`Content-Length: ${body.length}\r\n\r\n`), body]);
}

/** A decoder that receives bytes in pieces of any size and returns whole messages. */
export class Decoder {
  private pieces: Buffer[] = [];
  /** The number of bytes in `pieces`. */
  private held = 0;
  /** The length of the next message with its header, in bytes; 0 until its header is complete. */
  private needed = 0;

  /**
   * Return the messages that this piece completes. Throw an Error if it is not DAP; the decoder is unusable after that.
   */
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

/** Return the length in a header. Throw an Error if there is none or if it is too large. */
function lengthIn(header: string): number {
  const length = Number(/^Content-Length: *(\d+)$/im.exec(header)?.[1] ?? NaN);
  if (!(length <= MAX_MESSAGE_BYTES)) {
    throw new Error(`no length in the header "${header.slice(0, 80)}"`);
  }
  return length;
}
