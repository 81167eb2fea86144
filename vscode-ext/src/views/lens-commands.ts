/** The commands that the language server offers above functions, for the workers that are stopped there. */

import * as vscode from 'vscode';

import type { ClusterConnection } from '../model/cluster-connection';
import type { Commands } from './commands';
import type { DebugSessions } from './debug-sessions';
import type { EvaluationPanel } from './evaluation-panel';
import { askAndEvaluate, stepAt } from './multi-worker-commands';
import { reportCount } from './report-count';

/** The stopped threads, by the keys of their workers (adapter/raydap/lsp/live/annotations.py). */
type Stopped = Readonly<Record<string, readonly number[]>>;

/** The threads of one session that are still stopped. */
interface Reached {
  readonly connection: ClusterConnection;
  readonly threads: readonly number[];
}

export function lensCommands(sessions: DebugSessions, panel: EvaluationPanel): Commands {
  return {
    continueStopped: (stopped: Stopped) =>
      forEach(sessions, stopped, async ({ connection, threads }) => {
        reportCount('continued', (await connection.request('raydap/continue', { threads })).threads.length);
      }),
    stepStopped: (stopped: Stopped) => forEach(sessions, stopped, step),
    compareStopped: (stopped: Stopped) =>
      forEach(sessions, stopped, ({ connection, threads }) => askAndEvaluate(connection, panel, threads)),
  };
}

/** Call `act` for each session with threads that are still stopped. Show a message if there is none. */
async function forEach(
  { registry }: DebugSessions,
  stopped: Stopped,
  act: (reached: Reached) => Promise<unknown>,
): Promise<void> {
  const reached = registry.all
    .filter(({ session }) => session !== undefined)
    .map((connection) => ({ connection, threads: stillStopped(connection, stopped) }))
    .filter(({ threads }) => threads.length > 0);
  if (reached.length === 0) {
    const text = 'None of these workers is stopped in a session of this window.';
    void vscode.window.showInformationMessage(text);
  }
  for (const each of reached) {
    await act(each);
  }
}

function stillStopped({ tree }: ClusterConnection, stopped: Stopped): number[] {
  return Object.entries(stopped).flatMap(([key, threads]) => {
    const now = tree.get(key)?.worker.threads ?? [];
    return now.map(({ threadId }) => threadId).filter((threadId) => threads.includes(threadId));
  });
}

/** Step these threads. A request steps all threads at the same line, so it takes one request for each line. */
async function step({ connection, threads }: Reached): Promise<void> {
  let left = [...threads];
  for (let [threadId] = left; threadId !== undefined; [threadId] = left) {
    const taken = await stepAt(connection, threadId);
    left = left.filter((each) => each !== threadId && !taken.threads.includes(each));
  }
}
