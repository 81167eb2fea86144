/** Watches sessions begin, and offers the next step where one cannot. */

import type * as vscode from 'vscode';

import { isFailedStart, ofFailure } from '../bridge/problems';
import type { Remedies } from './remedies';

export class Failures implements vscode.DebugAdapterTrackerFactory {
  constructor(private readonly remedies: Remedies) {}

  createDebugAdapterTracker(session: vscode.DebugSession): vscode.DebugAdapterTracker {
    return {
      onDidSendMessage: (message) => {
        if (!isFailedStart(message)) {
          return;
        }
        const problem = ofFailure(message);
        if (problem === undefined) {
          return;
        }
        if (message.body?.error !== undefined) {
          // The same object goes on to VS Code, which would show the error again, without our buttons.
          message.body.error.showUser = false;
        }
        this.remedies.show(problem, { folder: session.workspaceFolder, configuration: session.configuration });
      },
    };
  }
}
