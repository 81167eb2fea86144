/** The lines at which threads are stopped, read from the messages of all sessions. */

import * as vscode from 'vscode';

import { StoppedLines } from '../model/stopped-lines';

/** A session and the lines of its stopped threads. */
export interface SessionLines {
  readonly session: vscode.DebugSession;
  readonly lines: StoppedLines;
}

/** A thread of a session that has stopped or, if `isStop` is false, continued. */
export interface Move {
  readonly session: vscode.DebugSession;
  readonly isStop: boolean;
}

/** The trackers that keep the stopped lines of each session, and the events about their changes. */
export class StoppedLinesTracker implements vscode.DebugAdapterTrackerFactory, vscode.Disposable {
  private readonly sessions = new Map<string, SessionLines>();
  private readonly changeEmitter = new vscode.EventEmitter<void>();
  /** Fires when a stopped line has changed or a session has ended. */
  readonly onDidChange = this.changeEmitter.event;
  private readonly moveEmitter = new vscode.EventEmitter<Move>();
  /** Fires when a thread of the session has stopped or continued. */
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
        const { event = '' } = message as { event?: string };
        if (['stopped', 'continued'].includes(event)) {
          this.moveEmitter.fire({ session, isStop: event === 'stopped' });
        }
      },
    };
  }

  dispose(): void {
    vscode.Disposable.from(this.subscription, this.changeEmitter, this.moveEmitter).dispose();
  }
}
