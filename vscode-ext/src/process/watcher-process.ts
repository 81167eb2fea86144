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

/** The fields of a DAP message that are read here. */
interface Message {
  readonly type: 'response' | 'event' | 'request';
  readonly seq: number;
  readonly request_seq?: number;
  readonly command?: string;
  readonly success?: boolean;
  readonly event?: string;
  readonly body?: unknown;
}

/** The functions that settle the promise of a request. */
interface PendingRequest {
  readonly resolve: (body: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** The arguments of WatcherProcess.start. */
export interface WatcherOptions {
  readonly command: Command;
  /** The working directory. It has no Python files of the user, which `python -m` would import first. */
  readonly cwd: string;
  readonly attach: WatcherArguments;
  readonly listener: WatcherListener;
  /** Receives the body of the answer to `initialize`. */
  readonly onInitialize: (body: unknown) => void;
}

const WORKERS_CHANGED: keyof Events = 'raydap/workersChanged';

const NOT_WATCHED = 'The cluster is no longer being watched.';

/** The number of characters that are kept of the end of stderr. */
const MAX_STDERR_CHARACTERS = 2000;

/** A running watcher. */
export class WatcherProcess implements WorkerSource {
  private readonly pending = new Map<number, PendingRequest>();
  private readonly decoder = new Decoder();
  /** Settles when raydap has answered `attach`. */
  private attached: Promise<void> | undefined;
  private seq = 0;
  private hasAnswered = false;
  private closed = false;
  private stderr = '';

  private constructor(
    private readonly process: ChildProcess,
    private readonly listener: WatcherListener,
  ) {}

  /** Start the process and attach. Requests report a refused attach, and the listener the end of the process. */
  static start({ command, cwd, attach, listener, onInitialize }: WatcherOptions): WatcherProcess {
    const env = { ...process.env, ...command.env };
    const child = spawn(command.command, command.args, { cwd, env, stdio: ['pipe', 'pipe', 'pipe'] });
    const watcher = new WatcherProcess(child, listener);
    child.stdout.on('data', (piece: Buffer) => watcher.receive(piece));
    child.stderr.on('data', (piece: Buffer) => {
      watcher.stderr = (watcher.stderr + piece.toString()).slice(-MAX_STDERR_CHARACTERS);
    });
    // Writing to a process that has ended fails. The event `close` reports its end.
    child.stdin.on('error', () => undefined);
    child.on('error', (error) =>
      watcher.end({ text: `raydap could not be started: ${error.message}.`, actions: ['chooseInterpreter'] }),
    );
    child.on('close', (code) => watcher.end(watcher.problemOfEnd(code)));
    watcher.attached = watcher.attach(attach, onInitialize);
    // Each request reports this failure. Without a request, the rejection would be unhandled.
    watcher.attached.catch(() => undefined);
    return watcher;
  }

  async request<Name extends RequestName>(name: Name, args: ArgumentsOf<Name>): Promise<AnswerTo<Name>> {
    await this.attached;
    return (await this.send(name, args)) as AnswerTo<Name>;
  }

  /** Reject all pending requests and end the process, without waiting for its end. */
  close(): void {
    this.closed = true;
    for (const { reject } of this.pending.values()) {
      reject(new Error(NOT_WATCHED));
    }
    this.pending.clear();
    this.process.stdin?.end();
    this.process.kill();
  }

  /**
   * Send `initialize` and `attach`. Before raydap answers `attach`, it sends the event `initialized` and waits for
   * `configurationDone`, which handleEvent sends (spec: Initialization).
   */
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
      const text = 'The output of the started program is not that of raydap.';
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
