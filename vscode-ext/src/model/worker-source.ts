/** The source of the list of workers: a watcher process, or a debug session. */

import type { Requests, WorkerList } from '../protocol/messages';
import type { Problem } from './problem';

/** raydap's own requests, and one of DAP, which VS Code itself sends only for its debug console. */
interface SourceRequests extends Requests {
  readonly completions: {
    readonly arguments: { readonly frameId: number; readonly text: string; readonly column: number };
    readonly answer: { readonly targets: readonly { readonly label: string; readonly text?: string }[] };
  };
}

export type RequestName = keyof SourceRequests;
export type ArgumentsOf<Name extends RequestName> = SourceRequests[Name]['arguments'];
export type AnswerTo<Name extends RequestName> = SourceRequests[Name]['answer'];

/** A watcher process or a debug session, which lists workers and answers requests about them. */
export interface WorkerSource {
  /** Return the body of the answer. Reject with an Error whose message is a sentence for the user. */
  request<Name extends RequestName>(name: Name, args: ArgumentsOf<Name>): Promise<AnswerTo<Name>>;
  close(): void;
}

/** The receiver of a watcher's events. */
export interface WatcherListener {
  /** Handle an update. It contains the workers that are new or have changed. */
  workersChanged(update: WorkerList): void;
  /** Handle the end of the watcher. No other call follows. After `close`, this is not called. */
  ended(problem: Problem): void;
  /**
   * Handle the end of the hub's session that was watched; the next session can be watched now. No other call follows.
   */
  replaced(): void;
}

/** The arguments of a watcher's `attach`. */
export interface WatcherArguments {
  readonly first: object;
  /** The arguments of a second attempt, if raydap refuses `first` because another client has begun a session. */
  readonly join?: object;
}
