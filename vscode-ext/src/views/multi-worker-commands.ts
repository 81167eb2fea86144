/** The commands that act on many workers of a session at once. */

import * as vscode from 'vscode';

import { showingError } from '../debug/error-message';
import type { StepRequests } from '../debug/step-requests';
import type { WorkerNode } from '../model/worker-tree';
import type { SteppedThreads } from '../protocol/messages';
import { steppedMessage } from '../text/stepped-message';
import { nodeOf, treeOf, type CommandTargets, type Requester, type Target } from './command-target';
import type { Commands } from './commands';
import type { EvaluationPanel } from './evaluation-panel';
import { askForWorker, isConfirmed, isStopped, reportCount, threadIdsOf, type Filter } from './worker-actions';

/**
 * The time limit of a step, in seconds. After it, a message reports the workers that have not come to the next line.
 */
const ARRIVAL_S = 5;

/** The time limit, in seconds, for workers that step together until they part. */
const APART_S = 60;

export function multiWorkerCommands(
  targets: CommandTargets,
  panel: EvaluationPanel,
  filter: Filter,
  steps: Pick<StepRequests, 'cancel'>,
): Commands {
  /** Return a command that is called with its target. */
  const onTarget =
    (run: (target: Target) => unknown) =>
    async (...args: unknown[]): Promise<void> => {
      const target = await targets.of(args);
      if (target !== undefined) {
        await run(target);
      }
    };
  return {
    continueAll: onTarget((target) => continueAll(target, filter)),
    stepTogether: onTarget((target) =>
      withThread(target, filter, (threadId, select) => stepAt(target.requester, threadId, { select })),
    ),
    stepApart: onTarget((target) =>
      withThread(target, filter, (threadId, select) => stepApart(target, threadId, select, steps)),
    ),
    evaluateAll: onTarget(({ connection, requester }) =>
      askAndEvaluate(requester, panel, { select: filter.selectOf(connection) }),
    ),
    evaluateAgain: () => panel.evaluateAgain(),
    showAtBarriers: onTarget((target) => atBarriers(target, filter, 'show')),
    releaseAtBarriers: onTarget((target) => atBarriers(target, filter, 'release')),
  };
}

/** Show or release the workers that wait at barriers. A barrier as a whole is released, so none must be hidden. */
async function atBarriers(target: Target, filter: Filter, action: 'show' | 'release'): Promise<void> {
  const { connection, requester } = target;
  const held = [...(await treeOf(target)).root.workers()].filter(({ worker }) => worker.state === 'held');
  const hidden = held.filter((node) => !filter.shows(connection, node)).length;
  if (hidden > 0) {
    const text =
      `The filter hides ${hidden} of the ${held.length} workers at barriers, so the command did nothing. ` +
      'Show all workers first.';
    void vscode.window.showInformationMessage(text);
    return;
  }
  const { barriers } = await requester.request('raydap/barriers', {});
  await requester.request('raydap/barriers', { action });
  if (barriers.length === 0) {
    void vscode.window.showInformationMessage('No worker waits at a barrier.');
  }
}

/** Continue all workers of the session. If the filter hides some of them, ask first and leave them out. */
async function continueAll(target: Target, filter: Filter): Promise<void> {
  const { connection, requester } = target;
  const stopped = [...(await treeOf(target)).root.workers()].filter(isStopped);
  const shown = stopped.filter((node) => filter.shows(connection, node));
  const hidden = stopped.length - shown.length;
  if (hidden > 0 && !(await isConfirmed('Continue', shown, hidden))) {
    return;
  }
  const countOf = workerCounter(shown);
  const { threads } = await requester.request('raydap/continue', hidden > 0 ? { threads: threadIdsOf(shown) } : {});
  reportCount('continued', countOf(threads), hidden);
}

/**
 * Return a function that counts the workers of threads. Call this before a request: resumed workers list no threads.
 */
function workerCounter(nodes: readonly WorkerNode[]): (threads: readonly number[]) => number {
  const ids = nodes.map((node) => threadIdsOf([node]));
  return (threads) => ids.filter((each) => each.some((id) => threads.includes(id))).length;
}

/**
 * Call `act` with the thread of the target, and with the set to which the filter limits the other threads. Show a
 * message if there is no thread or if the filter hides its worker.
 */
async function withThread(
  target: Target,
  filter: Filter,
  act: (threadId: number, select: string | undefined) => Promise<unknown>,
): Promise<void> {
  const { connection, threadId } = target;
  if (threadId === undefined) {
    return askForWorker();
  }
  const node = nodeOf(await treeOf(target), threadId);
  if (node !== undefined && !filter.shows(connection, node)) {
    const text = `The filter hides ${node.worker.title}, so the command did nothing. Show all workers first.`;
    void vscode.window.showInformationMessage(text);
    return;
  }
  await act(threadId, filter.selectOf(connection));
}

/**
 * Step workers until they part. A notification shows the progress, because this may take a minute. Its *Cancel* button
 * ends the steps, and the workers stop at the next line.
 */
async function stepApart(
  { requester, sessionId }: Target,
  threadId: number,
  select: string | undefined,
  steps: Pick<StepRequests, 'cancel'>,
): Promise<void> {
  const location = vscode.ProgressLocation.Notification;
  const options = { location, title: 'Stepping the workers until they reach different lines', cancellable: true };
  await vscode.window.withProgress(options, async (_, token) => {
    token.onCancellationRequested(() => {
      showingError(steps.cancel(sessionId));
    });
    try {
      await stepAt(requester, threadId, { timeout: APART_S, until: 'parted', select });
    } catch (error) {
      // raydap answers a cancelled request with an error.
      if (!token.isCancellationRequested) {
        throw error;
      }
    }
  });
}

/** How threads step: the time limit, in seconds, and the set to which they are limited. */
interface Stepping {
  readonly timeout?: number;
  readonly until?: 'parted';
  readonly select?: string | undefined;
}

/** Step all threads at the line of this thread, and show which of them have come to another line. */
export async function stepAt(
  requester: Requester,
  threadId: number,
  { timeout = ARRIVAL_S, until, select }: Stepping = {},
): Promise<SteppedThreads> {
  const how = { timeout, ...(until && { until }), ...(select !== undefined && { select }) };
  const stepped = await requester.request('raydap/step', { threadId, command: 'next', ...how });
  reportCount('stepped', stepped.threads.length);
  // Do not wait for the message, which may stay open for long.
  showingError(tellWhoParted(requester, stepped));
  return stepped;
}

/** Show the message about parted workers, with a button that selects the first of them. */
async function tellWhoParted(requester: Requester, stepped: SteppedThreads): Promise<void> {
  const message = steppedMessage(stepped);
  const [first] = stepped.groups?.[0]?.members ?? [];
  if (message === undefined || first === undefined) {
    return;
  }
  const show = 'Show';
  if ((await vscode.window.showWarningMessage(message, show)) === show) {
    await requester.request('raydap/focus', { threadId: first });
  }
}

/** Step these threads. A request steps all threads at the same line, so it takes one request for each line. */
export async function stepThreads(requester: Requester, threads: readonly number[], select?: string): Promise<void> {
  let left = [...threads];
  for (let [threadId] = left; threadId !== undefined; [threadId] = left) {
    const stepped = await stepAt(requester, threadId, { select });
    left = left.filter((each) => each !== threadId && !stepped.threads.includes(each));
  }
}

/** Ask for an expression, and show its values in these threads or in this set, else in all stopped threads. */
export async function askAndEvaluate(
  requester: Requester,
  panel: EvaluationPanel,
  where: { readonly threads?: readonly number[]; readonly select?: string | undefined },
): Promise<void> {
  const { threads, select } = where;
  const expression = await vscode.window.showInputBox({
    title:
      threads !== undefined
        ? `Evaluate in ${threads.length} stopped threads`
        : select !== undefined
          ? `Evaluate in All of ${select}`
          : 'Evaluate in All',
    prompt: 'A Python expression. Each stopped worker evaluates it at the line where it is stopped.',
    value: selectedText() ?? panel.expression,
    ignoreFocusOut: true,
  });
  if (expression !== undefined && expression.trim() !== '') {
    await panel.show(requester, expression.trim(), where);
  }
}

/** Return the selected text of the editor if it is within one line; else undefined. */
function selectedText(): string | undefined {
  const editor = vscode.window.activeTextEditor;
  const text = editor?.document.getText(editor.selection).trim();
  return text === undefined || text === '' || text.includes('\n') ? undefined : text;
}
