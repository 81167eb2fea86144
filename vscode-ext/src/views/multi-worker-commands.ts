/** The commands of a session that reach many workers at once. */

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

/** Seconds until the user is told who has not come to the next line. */
const ARRIVAL_S = 5;

/** Seconds for which workers step together until they part. */
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

/** Shows the workers that wait at barriers, or lets them run on. */
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

/** Continues all workers of the session. On the row of a cluster the filter protects the workers that it hides. */
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

/** Continues the groups of the chosen rows, else the group of the chosen thread, else lets the user choose. */
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

/** Returns a function that counts workers by their threads. Resumed workers have no threads any more. */
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

/** Acts on the thread of the target. Asks the user to select one if there is none. */
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
    // With a button, because VS Code cuts a message without one after its first line.
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

/** Shows the progress, since it may take a minute. Its button ends it: the workers stay at the next line. */
async function stepApart(
  { requester, sessionId }: Target,
  threadId: number,
  steps: Pick<StepRequests, 'cancel'>,
): Promise<void> {
  const location = vscode.ProgressLocation.Notification;
  const options = { location, title: 'Workers step until they part', cancellable: true };
  await vscode.window.withProgress(options, async (_, token) => {
    token.onCancellationRequested(() => {
      showingError(steps.cancel(sessionId));
    });
    try {
      await stepAt(requester, threadId, APART_S, 'parted');
    } catch (error) {
      // raydap refuses the cancelled request.
      if (!token.isCancellationRequested) {
        throw error;
      }
    }
  });
}

/** Steps all threads at the line of this one, and tells who has come to another line. */
export async function stepAt(
  requester: Requester,
  threadId: number,
  timeout = ARRIVAL_S,
  until?: 'parted',
): Promise<SteppedThreads> {
  const how = { timeout, ...(until && { until }) };
  const stepped = await requester.request('raydap/step', { threadId, command: 'next', ...how });
  reportCount('stepped', stepped.threads.length);
  // The message may stay for long.
  showingError(tellWhoParted(requester, stepped));
  return stepped;
}

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

/** Asks for an expression, and shows its values in these threads; without `threads`, in all that are stopped. */
export async function askAndEvaluate(
  requester: Requester,
  panel: EvaluationPanel,
  threads?: readonly number[],
): Promise<void> {
  const expression = await vscode.window.showInputBox({
    title: threads === undefined ? 'Evaluate in All' : `Evaluate in ${threads.length} stopped threads`,
    prompt: 'A Python expression; each stopped worker evaluates it at its own line.',
    value: selectedText() ?? panel.expression,
    ignoreFocusOut: true,
  });
  if (expression !== undefined && expression.trim() !== '') {
    await panel.show(requester, expression.trim(), threads);
  }
}

/** The selection in the editor, if it is within one line, as an expression is. */
function selectedText(): string | undefined {
  const editor = vscode.window.activeTextEditor;
  const text = editor?.document.getText(editor.selection).trim();
  return text === undefined || text === '' || text.includes('\n') ? undefined : text;
}
