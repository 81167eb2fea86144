/** Finds the requests that step workers until they part, because VS Code gives an extension no id to cancel its requests by. */

import type * as vscode from 'vscode';

interface Message {
  readonly type?: string;
  readonly seq?: number;
  readonly request_seq?: number;
  readonly command?: string;
  readonly arguments?: { readonly until?: string | null };
}

export class StepRequests implements vscode.DebugAdapterTrackerFactory {
  /** The sessions by their ids, each with the numbers of its unanswered requests. */
  private readonly sessions = new Map<string, { readonly session: vscode.DebugSession; readonly open: Set<number> }>();

  createDebugAdapterTracker(session: vscode.DebugSession): vscode.DebugAdapterTracker {
    const open = new Set<number>();
    this.sessions.set(session.id, { session, open });
    return {
      onWillReceiveMessage: ({ type, command, seq, arguments: given }: Message) => {
        if (type === 'request' && command === 'raydap/step' && seq !== undefined && given?.until === 'parted') {
          open.add(seq);
        }
      },
      onDidSendMessage: ({ type, request_seq: answered }: Message) => {
        if (type === 'response' && answered !== undefined) {
          open.delete(answered);
        }
      },
      onWillStopSession: () => this.sessions.delete(session.id),
    };
  }

  /** Cancels these requests of a session. raydap answers at once, and the workers stay at the next line. */
  async cancel(sessionId: string): Promise<void> {
    const found = this.sessions.get(sessionId);
    for (const requestId of found?.open ?? []) {
      await found?.session.customRequest('cancel', { requestId });
    }
  }
}
