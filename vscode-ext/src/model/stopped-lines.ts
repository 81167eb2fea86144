/** The lines at which threads are stopped, read from the stacks that VS Code requests at each stop. */

import { isResponseTo, type Source, type StackTrace } from '../protocol/dap';

/** The line of a stopped thread's top frame. */
export interface StoppedLine {
  readonly source: Source;
  /** Counted from 1. */
  readonly line: number;
}

/** The fields of a DAP message that are read here. */
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

/** The stopped lines of one session. */
export class StoppedLines {
  /** The line of the top frame, which VS Code highlights, by thread id. */
  private readonly lines = new Map<number, StoppedLine>();
  /** The thread id of each pending `stackTrace` request, by the `seq` of the request. */
  private readonly asked = new Map<number, number>();

  /** `changed` is called after each change. */
  constructor(private readonly changed: () => void) {}

  get(threadId: number): StoppedLine | undefined {
    return this.lines.get(threadId);
  }

  /** Read a message from VS Code. */
  sent(message: unknown): void {
    const { type, seq, command, arguments: args } = message as Message;
    const isTop = type === 'request' && command === 'stackTrace' && (args?.startFrame ?? 0) === 0;
    if (isTop && seq !== undefined && args?.threadId !== undefined) {
      this.asked.set(seq, args.threadId);
    }
  }

  /** Read a message from raydap. */
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

  /** Forget all threads, because all of them have continued. */
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

  /**
   * Forget a thread that has moved. Ignore the answers to its pending requests, which describe the stop that is over.
   */
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
