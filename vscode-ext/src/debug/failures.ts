/** Watches sessions begin, and offers the next step where one cannot. */

import type * as vscode from 'vscode';

import {
  hush,
  isFailedStart,
  isFailure,
  isListing,
  ofExit,
  ofFailure,
  silence,
  type Problem,
} from '../bridge/problems';
import type { Remedies } from './remedies';

export class Failures implements vscode.DebugAdapterTrackerFactory {
  constructor(private readonly remedies: Remedies) {}

  createDebugAdapterTracker(session: vscode.DebugSession): vscode.DebugAdapterTracker {
    let answered = false;
    let shown = false;
    let listed = false;
    const show = (problem: Problem): void => {
      this.remedies.show(problem, { folder: session.workspaceFolder, configuration: session.configuration });
    };
    return {
      onDidSendMessage: (message: unknown) => {
        answered = true;
        listed ||= isListing(message);
        if (listed) {
          hush(message);
        }
        if (!isFailure(message)) {
          return;
        }
        // The same object goes on to VS Code, which would show the error again, without our buttons.
        const problem = isFailedStart(message) ? ofFailure(message) : undefined;
        if (problem !== undefined) {
          shown = true;
          silence(message);
          show(problem);
        } else if (shown) {
          // The requests that VS Code had sent meanwhile fail, too, which is no news.
          silence(message);
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
