/** The tracker of each session's messages: it shows problems with their actions, and checks the version of raydap. */

import type * as vscode from 'vscode';

import { hubOf } from '../model/configuration';
import type { Problem } from '../model/problem';
import { demoteToConsole, hideFromUser, isFailedStart, isFailure, isResponseTo } from '../protocol/dap';
import { ErrorCode } from '../protocol/error-codes';
import { problemOfExit, problemOfOutput, problemOfStart } from '../text/problems';
import type { VersionCheck } from '../text/version-check';
import type { ProblemDialog } from './problem-dialog';

/** The factory of these trackers. */
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
      // VS Code handles the same object after this function, so it receives the changes that are made here.
      onDidSendMessage: (message: unknown) => {
        hasAnswered = true;
        // The raydap of the parent session also answers its child sessions, so one check is enough.
        if (session.parentSession === undefined && isResponseTo('initialize', message)) {
          this.versions.check(message.body, hubOf(configuration));
        }
        // From now on the Ray view receives the workers of this session, and shows one warning for all lost workers.
        listsWorkers ||= isResponseTo('raydap/workers', message);
        const notification = demoteToConsole(message);
        const isLeftToView = listsWorkers && notification?.code === ErrorCode.WORKER_GONE;
        // Show a notification in the parent session only: raydap sends it to the child sessions, too.
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
        // After a failed start, hide later failures: the requests that VS Code has already sent fail, too.
        hasFailed ||= problem !== undefined;
        // A command that sends a `raydap/` request shows its failure itself; VS Code's message would be a second one.
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
