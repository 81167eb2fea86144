/** A raydap process that only lists workers: it watches a cluster that no session of this window debugs. */

import { spawn, type ChildProcess } from 'node:child_process';

import { ProblemError, type Problem } from '../model/problem';
import type {
  AnswerTo,
  ArgumentsOf,
  RequestName,
  WatcherArguments,
  WatcherListener,
  WorkerSource,
} from '../model/worker-source';
import { errorCode, type Failure } from '../protocol/dap';
import { ErrorCode } from '../protocol/error-codes';
import { Decoder, encode } from '../protocol/framing';
import type { Events, WorkerList } from '../protocol/messages';
import { problemOfExit, problemOfRequest } from '../text/problems';
import type { Command } from './command';

/** Messages of both directions, as far as they are read here. */
interface Message {
  readonly type: 'response' | 'event' | 'request';
  readonly seq: number;
  readonly request_seq?: number;
  readonly command?: string;
  readonly success?: boolean;
  readonly event?: string;
  readonly body?: unknown;
}

interface PendingRequest {
  readonly resolve: (body: unknown) => void;
  readonly reject: (error: Error) => void;
}

export interface WatcherOptions {
  readonly command: Command;
  /** A folder without modules of the user's. */
  readonly cwd: string;
  readonly attach: WatcherArguments;
  readonly listener: WatcherListener;
  /** Takes the body of the answer to `initialize`. */
  readonly onInitialize: (body: unknown) => void;
}

const WORKERS_CHANGED: keyof Events = 'raydap/workersChanged';

const NOT_WATCHED = 'The cluster is not being watched any more.';

/** The last characters of stderr that are kept. */
const MAX_STDERR_CHARACTERS = 2000;

export class WatcherProcess implements WorkerSource {
  private readonly pending = new Map<number, PendingRequest>();
  private readonly decoder = new Decoder();
  private attached: Promise<void> | undefined;
  private seq = 0;
  private hasAnswered = false;
  private closed = false;
  private stderr = '';

  private constructor(
    private readonly process: ChildProcess,
    private readonly listener: WatcherListener,
  ) {}

  static start({ command, cwd, attach, listener, onInitialize }: WatcherOptions): WatcherProcess {
    const env = { ...process.env, ...command.env };
    const child = spawn(command.command, command.args, { cwd, env, stdio: ['pipe', 'pipe', 'pipe'] });
    const watcher = new WatcherProcess(child, listener);
    child.stdout.on('data', (piece: Buffer) => watcher.receive(piece));
    child.stderr.on('data', (piece: Buffer) => {
      watcher.stderr = (watcher.stderr + piece.toString()).slice(-MAX_STDERR_CHARACTERS);
    });
    // A process that has ended takes no more input. The event `close` reports its end.
    child.stdin.on('error', () => undefined);
    child.on('error', (error) =>
      watcher.end({ text: `raydap could not be started: ${error.message}.`, actions: ['chooseInterpreter'] }),
    );
    child.on('close', (code) => watcher.end(watcher.problemOfEnd(code)));
    watcher.attached = watcher.attach(attach, onInitialize);
    // Each request reports this failure; without any request it would be an unhandled one.
    watcher.attached.catch(() => undefined);
    return watcher;
  }

  async request<Name extends RequestName>(name: Name, args: ArgumentsOf<Name>): Promise<AnswerTo<Name>> {
    await this.attached;
    return (await this.send(name, args)) as AnswerTo<Name>;
  }

  /** raydap ends when its standard input does. Nothing waits for its end. */
  close(): void {
    this.closed = true;
    for (const { reject } of this.pending.values()) {
      reject(new Error(NOT_WATCHED));
    }
    this.pending.clear();
    this.process.stdin?.end();
    this.process.kill();
  }

  /** Meanwhile raydap sends the event `initialized`, which configurationDone answers (spec: Initialization). */
  private async attach({ first, join }: WatcherArguments, onInitialize: (body: unknown) => void): Promise<void> {
    onInitialize(await this.send('initialize', { adapterID: 'raydap', clientID: 'raydap-view', pathFormat: 'path' }));
    try {
      await this.send('attach', first);
    } catch (error) {
      if (join === undefined || !(error instanceof ProblemError) || error.code !== ErrorCode.OTHER_SESSION) {
        throw error;
      }
      await this.send('attach', join);
    }
  }

  private send(command: string, args: object): Promise<unknown> {
    if (this.closed) {
      return Promise.reject(new Error(NOT_WATCHED));
    }
    const seq = ++this.seq;
    this.write({ seq, type: 'request', command, arguments: args });
    return new Promise((resolve, reject) => this.pending.set(seq, { resolve, reject }));
  }

  private write(message: object): void {
    this.process.stdin?.write(encode(message));
  }

  private receive(piece: Buffer): void {
    let messages: unknown[];
    try {
      messages = this.decoder.decode(piece);
    } catch {
      const text = 'The started program does not answer like raydap.';
      this.end({ text, actions: ['chooseInterpreter', 'showLog'] });
      return;
    }
    for (const message of messages as Message[]) {
      if (!this.closed) {
        this.handle(message);
      }
    }
  }

  private handle(message: Message): void {
    this.hasAnswered = true;
    if (message.type === 'response') {
      this.handleResponse(message);
    } else if (message.type === 'event') {
      this.handleEvent(message);
    } else {
      // A watcher starts nothing and shows nothing, so it refuses every reverse request.
      const { seq, command } = message;
      this.write({ seq: ++this.seq, type: 'response', request_seq: seq, command, success: false });
    }
  }

  private handleResponse(message: Message): void {
    const pending = this.pending.get(message.request_seq ?? 0);
    this.pending.delete(message.request_seq ?? 0);
    if (message.success === true) {
      pending?.resolve(message.body);
    } else {
      const failure = message as unknown as Failure;
      pending?.reject(new ProblemError(problemOfRequest(failure), errorCode(failure)));
    }
  }

  private handleEvent({ event, body }: Message): void {
    if (event === 'initialized') {
      this.send('configurationDone', {}).catch(() => undefined);
    } else if (event === WORKERS_CHANGED) {
      this.listener.workersChanged(body as WorkerList);
    } else if (event === 'terminated') {
      this.close();
      this.listener.replaced();
    }
  }

  private end(problem: Problem): void {
    if (!this.closed) {
      this.close();
      this.listener.ended(problem);
    }
  }

  private problemOfEnd(code: number | null): Problem {
    const last = this.stderr.trim().split('\n').at(-1) ?? '';
    if (!this.hasAnswered && last === '') {
      return problemOfExit(code ?? undefined) ?? { text: 'raydap ended before it answered.', actions: ['showLog'] };
    }
    return { text: last === '' ? 'raydap has ended.' : `raydap has ended: ${last}`, actions: ['showLog'] };
  }
}
