/** The source of the list of workers: a watcher process, or a debug session. */

import type { Requests, WorkerList } from '../protocol/messages';
import type { Problem } from './problem';

export type RequestName = keyof Requests;
export type ArgumentsOf<Name extends RequestName> = Requests[Name]['arguments'];
export type AnswerTo<Name extends RequestName> = Requests[Name]['answer'];

export interface WorkerSource {
  /** Resolves to the body of the answer; rejects with an Error whose message is a sentence for the user. */
  request<Name extends RequestName>(name: Name, args: ArgumentsOf<Name>): Promise<AnswerTo<Name>>;
  close(): void;
}

export interface WatcherListener {
  /** `update` has the workers that are new or have changed. */
  workersChanged(update: WorkerList): void;
  /** The watcher has ended. No other call follows, and there is none after `close`. */
  ended(problem: Problem): void;
  /** The watched session of a hub is over, and its successor can be watched. No other call follows. */
  replaced(): void;
}

/** The arguments of a watcher's `attach`. */
export interface WatcherArguments {
  readonly first: object;
  /** Used if `first` is refused because another client has begun a session. */
  readonly join?: object;
}
