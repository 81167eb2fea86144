/** The commands that the language server offers above functions, for the workers that are stopped there. */

import * as vscode from 'vscode';

import type { ClusterConnection } from '../model/cluster-connection';
import type { Commands } from './commands';
import type { DebugSessions } from './debug-sessions';
import type { EvaluationPanel } from './evaluation-panel';
import { askAndEvaluate, stepThreads } from './multi-worker-commands';
import { reportCount, type Filter } from './worker-actions';

/** The stopped threads, by the keys of their workers (adapter/raydap/lsp/live/annotations.py). */
type Stopped = Readonly<Record<string, readonly number[]>>;

/** The threads of one session that are still stopped, without those that the filter hides. */
interface Reached {
  readonly connection: ClusterConnection;
  readonly threads: readonly number[];
  /** The number of workers that the filter hides. */
  readonly hidden: number;
}

export function lensCommands(sessions: DebugSessions, panel: EvaluationPanel, filter: Filter): Commands {
  const onReached = (act: (reached: Reached) => Promise<unknown>) => (stopped: Stopped) =>
    forEach(sessions, filter, stopped, act);
  return {
    continueStopped: onReached(async ({ connection, threads, hidden }) => {
      reportCount('continued', (await connection.request('raydap/continue', { threads })).threads.length, hidden);
    }),
    stepStopped: onReached(({ connection, threads }) => stepThreads(connection, threads, filter.selectOf(connection))),
    compareStopped: onReached(({ connection, threads }) => askAndEvaluate(connection, panel, { threads })),
  };
}

/** Call `act` for each session with threads that are still stopped. Show a message if there is none. */
async function forEach(
  { registry }: DebugSessions,
  filter: Filter,
  stopped: Stopped,
  act: (reached: Reached) => Promise<unknown>,
): Promise<void> {
  const reached = registry.all
    .filter(({ session }) => session !== undefined)
    .map((connection) => stillStopped(connection, filter, stopped))
    .filter(({ threads, hidden }) => threads.length > 0 || hidden > 0);
  if (reached.every(({ threads }) => threads.length === 0)) {
    const text =
      reached.length === 0
        ? 'None of these workers is stopped in a session of this window.'
        : 'The filter hides these workers, so the command did nothing. Show all workers first.';
    void vscode.window.showInformationMessage(text);
  }
  for (const each of reached.filter(({ threads }) => threads.length > 0)) {
    await act(each);
  }
}

function stillStopped(connection: ClusterConnection, filter: Filter, stopped: Stopped): Reached {
  const threads: number[] = [];
  let hidden = 0;
  for (const [key, wanted] of Object.entries(stopped)) {
    const node = connection.tree.get(key);
    const now = (node?.worker.threads ?? []).map(({ threadId }) => threadId).filter((id) => wanted.includes(id));
    if (node !== undefined && now.length > 0 && !filter.shows(connection, node)) {
      hidden += 1;
    } else {
      threads.push(...now);
    }
  }
  return { connection, threads, hidden };
}
