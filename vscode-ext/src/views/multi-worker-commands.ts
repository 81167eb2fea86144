/** The commands that act on many workers of a session at once. */

import * as vscode from 'vscode';

import { showingError } from '../debug/error-message';
import type { StepRequests } from '../debug/step-requests';
import { GroupNode, type TreeNode, type WorkerNode } from '../model/worker-tree';
import type { SteppedThreads } from '../protocol/messages';
import { steppedMessage } from '../text/stepped-message';
import { reportCount } from './report-count';
import type { ClusterFilter } from './cluster-filter';
import { treeOf, type CommandTargets, type Requester, type Target } from './command-target';
import type { Commands } from './commands';
import type { EvaluationPanel } from './evaluation-panel';
import { isStopped, threadIdsOf } from './row-commands';
import { isTreeNode } from './tree-elements';

/**
 * The time limit of a step, in seconds. After it, a message reports the workers that have not come to the next line.
 */
const ARRIVAL_S = 5;

/** The time limit, in seconds, for workers that step together until they part. */
const APART_S = 60;

export function multiWorkerCommands(
  targets: CommandTargets,
  panel: EvaluationPanel,
  filter: Pick<ClusterFilter, 'shows'>,
  steps: Pick<StepRequests, 'cancel'>,
): Commands {
  return {
    continueAll: (...args: unknown[]) => continueAll(targets, filter, args),
    continueGroup: (...args: unknown[]) => continueGroup(targets, filter, args),
    stepTogether: (...args: unknown[]) =>
      withThread(targets, args, ({ requester }, threadId) => stepAt(requester, threadId)),
    stepApart: (...args: unknown[]) =>
      withThread(targets, args, (target, threadId) => stepApart(target, threadId, steps)),
    evaluateAll: async (...args: unknown[]) => {
      const target = await targets.of(args);
      return target && askAndEvaluate(target.requester, panel);
    },
    evaluateAgain: () => panel.evaluateAgain(),
    showAtBarriers: (...args: unknown[]) => atBarriers(targets, args, 'show'),
    releaseAtBarriers: (...args: unknown[]) => atBarriers(targets, args, 'release'),
  };
}

/** Show or release the workers that wait at barriers. */
async function atBarriers(
  targets: CommandTargets,
  args: readonly unknown[],
  action: 'show' | 'release',
): Promise<void> {
  const target = await targets.of(args);
  if (target === undefined) {
    return;
  }
  const { barriers } = await target.requester.request('raydap/barriers', {});
  await target.requester.request('raydap/barriers', { action });
  if (barriers.length === 0) {
    void vscode.window.showInformationMessage('No worker waits at a barrier.');
  }
}

/** Continue all workers of the session. If called on the row of a cluster, leave out workers that the filter hides. */
async function continueAll(
  targets: CommandTargets,
  filter: Pick<ClusterFilter, 'shows'>,
  args: readonly unknown[],
): Promise<void> {
  const target = await targets.of(args);
  if (target === undefined) {
    return;
  }
  const { connection, requester, rows } = target;
  const stopped = [...(await treeOf(target)).root.workers()].filter(isStopped);
  const shown = rows.length > 0 ? stopped.filter((node) => filter.shows(connection, node)) : stopped;
  const hidden = stopped.length - shown.length;
  const countOf = workerCounter(shown);
  const { threads } = await requester.request('raydap/continue', hidden > 0 ? { threads: threadIdsOf(shown) } : {});
  reportCount('continued', countOf(threads), hidden);
}

/** Continue the groups of the chosen rows, else the group of the chosen thread, else a group that the user chooses. */
async function continueGroup(
  targets: CommandTargets,
  filter: Pick<ClusterFilter, 'shows'>,
  args: readonly unknown[],
): Promise<void> {
  const target = await targets.of(args, { selection: true });
  if (target === undefined) {
    return;
  }
  const { connection, requester, threadId } = target;
  const rows = target.rows.filter(isTreeNode);
  const workers = [...(await treeOf(target)).root.workers()];
  const active = workers.find(({ worker }) => worker.threads.some((thread) => thread.threadId === threadId));
  const nodes = rows.length > 0 ? rows : active && [active];
  const stopped = workers.filter(isStopped);
  const groups = nodes?.map(groupOf) ?? (await chooseGroup(new Set(stopped.map(({ parent }) => parent))));
  if (groups === undefined) {
    return;
  }
  const all = [...new Set(groups.flatMap((group) => [...group.workers()]))].filter(isStopped);
  const chosen = rows.length > 0 ? all.filter((node) => filter.shows(connection, node)) : all;
  const countOf = workerCounter(chosen);
  const { threads } = await requester.request('raydap/continue', { threads: threadIdsOf(chosen) });
  reportCount('continued', countOf(threads), all.length - chosen.length);
}

/**
 * Return a function that counts the workers of threads. Call this before a request: resumed workers list no threads.
 */
function workerCounter(nodes: readonly WorkerNode[]): (threads: readonly number[]) => number {
  const ids = nodes.map((node) => threadIdsOf([node]));
  return (threads) => ids.filter((each) => each.some((id) => threads.includes(id))).length;
}

function groupOf(node: TreeNode): GroupNode {
  return node instanceof GroupNode ? node : node.parent;
}

async function chooseGroup(groups: ReadonlySet<GroupNode>): Promise<readonly GroupNode[] | undefined> {
  if (groups.size < 2) {
    return [...groups];
  }
  const items = [...groups].map((group) => ({
    label: group.name,
    description: `${group.tally.stopped} stopped`,
    detail: group.parent?.name ?? '',
    group,
  }));
  const chosen = await vscode.window.showQuickPick(items, { title: 'Continue Group' });
  return chosen && [chosen.group];
}

/** Call `act` with the thread of the target. If there is no thread, show a message that asks the user to select one. */
async function withThread(
  targets: CommandTargets,
  args: readonly unknown[],
  act: (target: Target, threadId: number) => Promise<unknown>,
): Promise<void> {
  const target = await targets.of(args);
  if (target === undefined) {
    return;
  }
  const { threadId } = target;
  if (threadId === undefined) {
    // VS Code cuts a message without a button after its first line.
    const show = 'Show the call stack';
    const text =
      'Select a stopped worker in the call stack. The command steps all workers that are stopped at its line.';
    if ((await vscode.window.showInformationMessage(text, show)) === show) {
      await vscode.commands.executeCommand('workbench.debug.action.focusCallStackView');
    }
    return;
  }
  await act(target, threadId);
}

/**
 * Step workers until they part. A notification shows the progress, because this may take a minute. Its *Cancel* button
 * ends the steps, and the workers stop at the next line.
 */
async function stepApart(
  { requester, sessionId }: Target,
  threadId: number,
  steps: Pick<StepRequests, 'cancel'>,
): Promise<void> {
  const location = vscode.ProgressLocation.Notification;
  const options = { location, title: 'Stepping the workers until they reach different lines', cancellable: true };
  await vscode.window.withProgress(options, async (_, token) => {
    token.onCancellationRequested(() => {
      showingError(steps.cancel(sessionId));
    });
    try {
      await stepAt(requester, threadId, APART_S, 'parted');
    } catch (error) {
      // raydap answers a cancelled request with an error.
      if (!token.isCancellationRequested) {
        throw error;
      }
    }
  });
}

/** Step all threads at the line of this thread, and show which of them have come to another line. */
export async function stepAt(
  requester: Requester,
  threadId: number,
  timeout = ARRIVAL_S,
  until?: 'parted',
): Promise<SteppedThreads> {
  const how = { timeout, ...(until && { until }) };
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

/** Ask the user for an expression, and show its values in these threads; without `threads`, in all stopped threads. */
export async function askAndEvaluate(
  requester: Requester,
  panel: EvaluationPanel,
  threads?: readonly number[],
): Promise<void> {
  const expression = await vscode.window.showInputBox({
    title: threads === undefined ? 'Evaluate in All' : `Evaluate in ${threads.length} stopped threads`,
    prompt: 'A Python expression. Each stopped worker evaluates it at the line where it is stopped.',
    value: selectedText() ?? panel.expression,
    ignoreFocusOut: true,
  });
  if (expression !== undefined && expression.trim() !== '') {
    await panel.show(requester, expression.trim(), threads);
  }
}

/** Return the selected text of the editor if it is within one line; else undefined. */
function selectedText(): string | undefined {
  const editor = vscode.window.activeTextEditor;
  const text = editor?.document.getText(editor.selection).trim();
  return text === undefined || text === '' || text.includes('\n') ? undefined : text;
}
