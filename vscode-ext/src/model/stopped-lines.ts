/** The lines at which threads are stopped: VS Code asks for the stack of each stop, and the answers are read here. */

import { isResponseTo, type Source, type StackTrace } from '../protocol/dap';

export interface StoppedLine {
  readonly source: Source;
  /** From 1. */
  readonly line: number;
}

interface Message {
  readonly type?: string;
  readonly seq?: number;
  readonly command?: string;
  readonly request_seq?: number;
  readonly event?: string;
  readonly arguments?: { readonly threadId?: number; readonly startFrame?: number };
  readonly body?: {
    readonly threadId?: number;
    readonly reason?: string;
    readonly allThreadsContinued?: boolean;
  };
}

/** The threads of one session. */
export class StoppedLines {
  /** The line of the top frame, by thread: the line that VS Code highlights. */
  private readonly lines = new Map<number, StoppedLine>();
  /** The thread of each request that is not answered yet, by the request's number. */
  private readonly asked = new Map<number, number>();

  /** `changed` is called after each change. */
  constructor(private readonly changed: () => void) {}

  get(threadId: number): StoppedLine | undefined {
    return this.lines.get(threadId);
  }

  /** Takes a message from VS Code. */
  sent(message: unknown): void {
    const { type, seq, command, arguments: args } = message as Message;
    const isTop = type === 'request' && command === 'stackTrace' && (args?.startFrame ?? 0) === 0;
    if (isTop && seq !== undefined && args?.threadId !== undefined) {
      this.asked.set(seq, args.threadId);
    }
  }

  /** Takes a message from raydap. */
  received(message: unknown): void {
    const { type, event, request_seq, body } = message as Message;
    if (type === 'response') {
      const threadId = this.asked.get(request_seq ?? NaN);
      this.asked.delete(request_seq ?? NaN);
      if (threadId !== undefined && isResponseTo('stackTrace', message)) {
        this.put(threadId, message.body as StackTrace);
      }
    } else if (event === 'continued' && body?.allThreadsContinued !== false) {
      this.clear();
    } else if (event === 'stopped' || event === 'continued' || (event === 'thread' && body?.reason === 'exited')) {
      this.forget(body?.threadId);
    }
  }

  /** Forgets all threads; the session has ended, or all run on. */
  clear(): void {
    this.lines.clear();
    this.asked.clear();
    this.changed();
  }

  private put(threadId: number, { stackFrames: [top] = [] }: StackTrace): void {
    if (top?.source !== undefined) {
      this.lines.set(threadId, { source: top.source, line: top.line });
      this.changed();
    }
  }

  /** An answer that is still to come is about the stop that is over. */
  private forget(threadId: number | undefined): void {
    for (const [seq, asked] of this.asked) {
      if (asked === threadId) {
        this.asked.delete(seq);
      }
    }
    if (threadId !== undefined && this.lines.delete(threadId)) {
      this.changed();
    }
  }
}
