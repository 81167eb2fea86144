/** Watches sessions begin, and offers the next step where one cannot. */

import type * as vscode from 'vscode';

import { isFailedStart, ofExit, ofFailure, type Problem } from '../bridge/problems';
import type { Remedies } from './remedies';

export class Failures implements vscode.DebugAdapterTrackerFactory {
  constructor(private readonly remedies: Remedies) {}

  createDebugAdapterTracker(session: vscode.DebugSession): vscode.DebugAdapterTracker {
    let answered = false;
    const show = (problem: Problem): void => {
      this.remedies.show(problem, { folder: session.workspaceFolder, configuration: session.configuration });
    };
    return {
      onDidSendMessage: (message: unknown) => {
        answered = true;
        if (!isFailedStart(message)) {
          return;
        }
        const problem = ofFailure(message);
        if (problem !== undefined) {
          // The same object goes on to VS Code, which would show the error again, without our buttons.
          message.body = { error: { ...message.body?.error, showUser: false } };
          show(problem);
        }
      },
      onExit: (code) => {
        const problem = answered ? undefined : ofExit(code);
        if (problem !== undefined) {
          show(problem);
        }
      },
    };
  }
}
