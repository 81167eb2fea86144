/** Reads the messages of all sessions for the lines at which threads are stopped. */

import * as vscode from 'vscode';

import { StoppedLines } from '../model/stopped-lines';

export interface SessionLines {
  readonly session: vscode.DebugSession;
  readonly lines: StoppedLines;
}

export class StoppedLinesTracker implements vscode.DebugAdapterTrackerFactory, vscode.Disposable {
  private readonly sessions = new Map<string, SessionLines>();
  private readonly changeEmitter = new vscode.EventEmitter<void>();
  readonly onDidChange = this.changeEmitter.event;
  private readonly moveEmitter = new vscode.EventEmitter<vscode.DebugSession>();
  /** A thread of the session has stopped or has continued. */
  readonly onDidMove = this.moveEmitter.event;
  private readonly subscription = vscode.debug.onDidTerminateDebugSession(({ id }) => {
    if (this.sessions.delete(id)) {
      this.changeEmitter.fire();
    }
  });

  get all(): Iterable<SessionLines> {
    return this.sessions.values();
  }

  createDebugAdapterTracker(session: vscode.DebugSession): vscode.DebugAdapterTracker {
    const lines = new StoppedLines(() => this.changeEmitter.fire());
    this.sessions.set(session.id, { session, lines });
    return {
      onWillReceiveMessage: (message: unknown) => lines.sent(message),
      onDidSendMessage: (message: unknown) => {
        lines.received(message);
        if (['stopped', 'continued'].includes((message as { event?: string }).event ?? '')) {
          this.moveEmitter.fire(session);
        }
      },
    };
  }

  dispose(): void {
    vscode.Disposable.from(this.subscription, this.changeEmitter, this.moveEmitter).dispose();
  }
}
