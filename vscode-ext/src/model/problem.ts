/** A problem: a sentence for the user, and the actions that may help. */

/** A button of the message. */
export type ProblemAction =
  | 'install'
  | 'copyInstall'
  | 'chooseInterpreter'
  | 'changeDashboard'
  | 'changeHub'
  | 'enterClusterToken'
  | 'enterHubToken'
  | 'join'
  | 'showLog';

export interface Problem {
  readonly text: string;
  /** The most likely one first. */
  readonly actions: readonly ProblemAction[];
}

export class ProblemError extends Error {
  constructor(
    readonly problem: Problem,
    /** Raydap's number of the error (docs/errors.md), if it comes from raydap. */
    readonly code?: number,
  ) {
    super(problem.text);
  }
}
