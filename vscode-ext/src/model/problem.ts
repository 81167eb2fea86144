/** Problems, each with a sentence for the user and the actions that may help. */

/** An action, for which the message has a button. */
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

/** A problem that is shown to the user. */
export interface Problem {
  /** A sentence for the user. */
  readonly text: string;
  /** The actions that may help, the most likely one first. */
  readonly actions: readonly ProblemAction[];
}

/** An error that carries a problem. */
export class ProblemError extends Error {
  constructor(
    readonly problem: Problem,
    /** raydap's number of the error (docs/errors.md); undefined if the error does not come from raydap. */
    readonly code?: number,
  ) {
    super(problem.text);
  }
}
