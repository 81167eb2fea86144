/** A bridge that only tells who is there: started for a cluster that is looked at while nobody debugs it. */

import { spawn, type ChildProcess } from 'node:child_process';

import type { Command } from './command';
import { Decoder, encode } from './framing';
import { numberOf, ofExit, ofFailure, type Failure, type Problem } from './problems';
import type { Worker } from './worker';

/** Where workers are told of, and can be asked for: a watcher, or a session. */
export interface Source {
  /** Resolves to the body of the answer; rejects with an Error whose message is a sentence. */
  request(command: string, args?: object): Promise<unknown>;
  close(): void;
}

export interface Listener {
  heard(told: Told): void;
  /** Nothing comes after this, and it does not come after `close`. */
  ended(problem: Problem): void;
  /** Likewise; but what was watched is over, and what has taken its place can be watched. */
  replaced(): void;
}

/** Both directions, as far as they are read here. */
interface Message {
  readonly type: 'response' | 'event' | 'request';
  readonly seq: number;
  readonly request_seq?: number;
  readonly command?: string;
  readonly success?: boolean;
  readonly event?: string;
  readonly body?: unknown;
}

interface Pending {
  readonly resolve: (body: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** What to attach with. */
export interface Attach {
  readonly first: object;
  /** For a session that somebody else has begun. */
  readonly join?: object;
}

/** A request that failed; `problem` has the next steps. */
export class Refused extends Error {
  constructor(
    readonly problem: Problem,
    /** Of the error, as raydap counts them. */
    readonly number?: number,
  ) {
    super(problem.text);
  }
}

/** The body of raydap/workers and of its event. */
export interface Told {
  readonly workers: readonly Worker[];
  /** A sentence while the cluster does not answer. A hub of an earlier version does not say. */
  readonly outage?: string;
}

export const TOLD = 'raydap/workersChanged';

/** The hub's session has begun with other arguments; without any it can be joined. */
const OTHER_SESSION = 1007;

const NOT_WATCHED = 'The cluster is not being watched any more.';

export class Watcher implements Source {
  private readonly pending = new Map<number, Pending>();
  private readonly decoder = new Decoder();
  private ready: Promise<void> | undefined;
  private seq = 0;
  private answered = false;
  private over = false;
  private said = '';

  private constructor(
    private readonly process: ChildProcess,
    private readonly listener: Listener,
  ) {}

  /** `cwd` is a folder without modules of the user's; `attach` has its arguments, and others if those are refused. */
  static start({ command, args, env }: Command, cwd: string, attach: Attach, listener: Listener): Watcher {
    const child = spawn(command, args, { cwd, env: { ...process.env, ...env }, stdio: ['pipe', 'pipe', 'pipe'] });
    const watcher = new Watcher(child, listener);
    child.stdout.on('data', (piece: Buffer) => {
      watcher.receive(piece);
    });
    child.stderr.on('data', (piece: Buffer) => {
      watcher.said = (watcher.said + piece.toString()).slice(-2000);
    });
    // A bridge that has ended takes no more; that it has is told by `close`.
    child.stdin.on('error', () => undefined);
    child.on('error', (error) => {
      watcher.end({ text: `raydap could not be started: ${error.message}.`, steps: ['chooseInterpreter'] });
    });
    child.on('close', (code) => {
      watcher.end(watcher.ofEnd(code));
    });
    watcher.ready = watcher.begin(attach);
    // Whoever asks for something is told; until then this is no unhandled failure.
    watcher.ready.catch(() => undefined);
    return watcher;
  }

  async request(command: string, args: object = {}): Promise<unknown> {
    await this.ready;
    return this.ask(command, args);
  }

  private ask(command: string, args: object): Promise<unknown> {
    if (this.over) {
      return Promise.reject(new Error(NOT_WATCHED));
    }
    const seq = ++this.seq;
    this.send({ seq, type: 'request', command, arguments: args });
    return new Promise((resolve, reject) => {
      this.pending.set(seq, { resolve, reject });
    });
  }

  /** The bridge ends when nobody talks to it any more; it is not waited for. */
  close(): void {
    this.over = true;
    this.release(NOT_WATCHED);
    this.process.stdin?.end();
    this.process.kill();
  }

  /** The event `initialized` comes meanwhile, and configurationDone follows it (spec: Initialization). */
  private async begin({ first, join }: Attach): Promise<void> {
    await this.ask('initialize', { adapterID: 'raydap', clientID: 'raydap-view', pathFormat: 'path' });
    try {
      await this.ask('attach', first);
    } catch (error) {
      if (join === undefined || !(error instanceof Refused) || error.number !== OTHER_SESSION) {
        throw error;
      }
      await this.ask('attach', join);
    }
  }

  private receive(piece: Buffer): void {
    let messages: unknown[];
    try {
      messages = this.decoder.decode(piece);
    } catch {
      this.end({ text: 'What was started does not answer like raydap.', steps: ['chooseInterpreter', 'showLog'] });
      return;
    }
    for (const message of messages as Message[]) {
      if (!this.over) {
        this.take(message);
      }
    }
  }

  private take(message: Message): void {
    this.answered = true;
    if (message.type === 'response') {
      this.settle(message);
    } else if (message.type === 'event') {
      this.hear(message);
    } else {
      // Nothing is started or shown on behalf of somebody who only looks.
      const { seq, command } = message;
      this.send({ seq: ++this.seq, type: 'response', request_seq: seq, command, success: false });
    }
  }

  private settle(message: Message): void {
    const pending = this.pending.get(message.request_seq ?? 0);
    this.pending.delete(message.request_seq ?? 0);
    if (message.success === true) {
      pending?.resolve(message.body);
    } else {
      const failure = message as unknown as Failure;
      pending?.reject(new Refused(toProblem(failure), numberOf(failure)));
    }
  }

  private hear({ event, body }: Message): void {
    if (event === 'initialized') {
      this.ask('configurationDone', {}).catch(() => undefined);
    } else if (event === TOLD) {
      this.listener.heard(body as Told);
    } else if (event === 'terminated') {
      this.close();
      this.listener.replaced();
    }
  }

  private send(message: object): void {
    this.process.stdin?.write(encode(message));
  }

  private end(problem: Problem): void {
    if (this.over) {
      return;
    }
    this.close();
    this.listener.ended(problem);
  }

  private ofEnd(code: number | null): Problem {
    const last = this.said.trim().split('\n').at(-1) ?? '';
    if (!this.answered && last === '') {
      return ofExit(code ?? undefined) ?? { text: 'raydap ended before it answered.', steps: ['showLog'] };
    }
    return { text: last === '' ? 'raydap has ended.' : `raydap has ended: ${last}`, steps: ['showLog'] };
  }

  private release(reason: string): void {
    for (const { reject } of this.pending.values()) {
      reject(new Error(reason));
    }
    this.pending.clear();
  }
}

function toProblem(failure: Failure): Problem {
  const text = failure.body?.error?.format ?? failure.message ?? `raydap refused ${failure.command}.`;
  return ofFailure(failure) ?? { text, steps: ['showLog'] };
}
