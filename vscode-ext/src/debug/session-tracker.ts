/** Reads the messages of each session: shows its problems with actions, and compares versions. */

import type * as vscode from 'vscode';

import { hubOf } from '../model/configuration';
import type { Problem } from '../model/problem';
import { demoteToConsole, hideFromUser, isFailedStart, isFailure, isResponseTo } from '../protocol/dap';
import { ErrorCode } from '../protocol/error-codes';
import { problemOfExit, problemOfOutput, problemOfStart } from '../text/problems';
import type { VersionCheck } from '../text/version-check';
import type { ProblemDialog } from './problem-dialog';

export class SessionTrackerFactory implements vscode.DebugAdapterTrackerFactory {
  constructor(
    private readonly problems: Pick<ProblemDialog, 'show'>,
    private readonly versions: Pick<VersionCheck, 'check'>,
  ) {}

  createDebugAdapterTracker(session: vscode.DebugSession): vscode.DebugAdapterTracker {
    const { configuration, workspaceFolder: folder } = session;
    let hasAnswered = false;
    let hasFailed = false;
    let listsWorkers = false;
    const show = (problem: Problem): void => this.problems.show(problem, { folder, configuration });
    return {
      // VS Code gets the same object afterwards, so a change made here is seen there.
      onDidSendMessage: (message: unknown) => {
        hasAnswered = true;
        // A child session is answered by the raydap of its parent.
        if (session.parentSession === undefined && isResponseTo('initialize', message)) {
          this.versions.check(message.body, hubOf(configuration));
        }
        // From now on the Ray view gets the workers of this session, and warns once of all workers that are lost.
        listsWorkers ||= isResponseTo('raydap/workers', message);
        const notification = demoteToConsole(message);
        const isLeftToView = listsWorkers && notification?.code === ErrorCode.WORKER_GONE;
        // raydap tells the parent of a child session the same.
        if (notification !== undefined && session.parentSession === undefined && !isLeftToView) {
          show(problemOfOutput(notification.text));
        }
        if (!isFailure(message)) {
          return;
        }
        const problem = isFailedStart(message) ? problemOfStart(message) : undefined;
        if (problem !== undefined) {
          show(problem);
        }
        // Hide later failures: after a failed start the requests that VS Code has sent meanwhile fail, too.
        hasFailed ||= problem !== undefined;
        // The command that has sent a request of raydap's own shows its failure: VS Code's message would be a second one.
        if (hasFailed || message.command.startsWith('raydap/')) {
          hideFromUser(message);
        }
      },
      onExit: (code) => {
        const problem = hasAnswered ? undefined : problemOfExit(code);
        if (problem !== undefined) {
          show(problem);
        }
      },
    };
  }
}
