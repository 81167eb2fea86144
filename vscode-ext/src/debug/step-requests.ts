/**
 * The pending requests that step workers until they part. `cancel` needs the id of such a request, and VS Code does not
 * give an extension the ids of its own requests, so they are read from the messages.
 */

import type * as vscode from 'vscode';

/** The fields of a DAP message that are read here. */
interface Message {
  readonly type?: string;
  readonly seq?: number;
  readonly request_seq?: number;
  readonly command?: string;
  readonly arguments?: { readonly until?: string | null };
}

/** The trackers that record these requests, and the function that cancels them. */
export class StepRequests implements vscode.DebugAdapterTrackerFactory {
  /** The sessions by their ids, each with the ids (`seq`) of its pending step requests. */
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

  /**
   * Cancel the pending step requests of a session. raydap answers them immediately, and the workers stop at the next
   * line.
   */
  async cancel(sessionId: string): Promise<void> {
    const found = this.sessions.get(sessionId);
    for (const requestId of found?.open ?? []) {
      await found?.session.customRequest('cancel', { requestId });
    }
  }
}
