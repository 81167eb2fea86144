/** The commands of a session that reach many workers at once. */

import * as vscode from 'vscode';

import type { ClusterConnection } from '../model/cluster-connection';
import { GroupNode, type TreeNode } from '../model/worker-tree';
import type { SteppedThreads } from '../protocol/messages';
import { steppedMessage } from '../text/stepped-message';
import type { Commands } from './commands';
import type { DebugSessions } from './debug-sessions';
import type { EvaluationPanel } from './evaluation-panel';
import { threadIdsOf } from './row-commands';
import { isTreeNode, type Element } from './tree-elements';

/** Seconds until the user is told who has not come to the next line. */
const ARRIVAL_S = 5;

/** Seconds for which workers step together until they part. */
const APART_S = 60;

/** `selection` gives the selected rows of the Ray view. */
export function multiWorkerCommands(
  sessions: DebugSessions,
  panel: EvaluationPanel,
  selection: () => readonly Element[],
): Commands {
  return {
    continueAll: (row?: unknown) => {
      const inRow = sessions.registry.all.find((each) => each === row && each.session !== undefined);
      return (inRow ?? debugged(sessions))?.request('raydap/continue', {});
    },
    continueGroup: () => continueGroup(sessions, selection()),
    stepTogether: () => stepTogether(sessions, ARRIVAL_S),
    stepApart: () => stepTogether(sessions, APART_S, 'parted'),
    evaluateAll: () => {
      const connection = debugged(sessions);
      return connection && askAndEvaluate(connection, panel);
    },
    evaluateAgain: () => panel.evaluateAgain(),
    showAtBarriers: () => atBarriers(sessions, 'show'),
    releaseAtBarriers: () => atBarriers(sessions, 'release'),
  };
}

/** Shows the workers that wait at barriers, or lets them run on. */
async function atBarriers(sessions: DebugSessions, action: 'show' | 'release'): Promise<void> {
  const connection = debugged(sessions);
  if (connection === undefined) {
    return;
  }
  const { barriers } = await connection.request('raydap/barriers', {});
  await connection.request('raydap/barriers', { action });
  if (barriers.length === 0) {
    void vscode.window.showInformationMessage('No worker waits at a barrier.');
  }
}

/** The cluster that is debugged. Tells the user if there is none. */
function debugged(sessions: DebugSessions): ClusterConnection | undefined {
  const { current } = sessions;
  if (current?.session === undefined) {
    void vscode.window.showInformationMessage('No raydap session is running.');
    return undefined;
  }
  return current;
}

/** Takes the group of the selected row, else that of the thread selected in the call stack, else lets the user choose. */
async function continueGroup(sessions: DebugSessions, [row]: readonly Element[]): Promise<void> {
  const connection = debugged(sessions);
  if (connection === undefined) {
    return;
  }
  const workers = [...connection.tree.root.workers()];
  const threadId = activeItem(sessions, connection)?.threadId;
  const active = workers.find(({ worker }) => worker.threads.some((thread) => thread.threadId === threadId));
  const stopped = workers.filter(({ worker }) => worker.state === 'stopped');
  const node =
    row !== undefined && isTreeNode(row) && sessions.registry.connectionOf(row) === connection ? row : active;
  const group = node === undefined ? await chooseGroup(new Set(stopped.map(({ parent }) => parent))) : groupOf(node);
  if (group !== undefined) {
    await connection.request('raydap/continue', { threads: threadIdsOf([...group.workers()]) });
  }
}

function groupOf(node: TreeNode): GroupNode {
  return node instanceof GroupNode ? node : node.parent;
}

async function chooseGroup(groups: ReadonlySet<GroupNode>): Promise<GroupNode | undefined> {
  if (groups.size < 2) {
    return [...groups][0];
  }
  const items = [...groups].map((group) => ({
    label: group.name,
    description: `${group.tally.stopped} stopped`,
    detail: group.parent?.name ?? '',
    group,
  }));
  return (await vscode.window.showQuickPick(items, { title: 'Continue Group' }))?.group;
}

async function stepTogether(sessions: DebugSessions, timeout: number, until?: 'parted'): Promise<void> {
  const connection = debugged(sessions);
  if (connection === undefined) {
    return;
  }
  const item = activeItem(sessions, connection);
  if (item === undefined) {
    // With a button, because VS Code cuts a message without one after its first line.
    const show = 'Show the call stack';
    const text =
      'Select a stopped worker in the call stack. The command steps all workers that are stopped at its line.';
    if ((await vscode.window.showInformationMessage(text, show)) === show) {
      await vscode.commands.executeCommand('workbench.debug.action.focusCallStackView');
    }
    return;
  }
  await stepAt(connection, item.threadId, timeout, until);
}

/** Steps all threads at the line of this one, and tells who has come to another line. */
export async function stepAt(
  connection: ClusterConnection,
  threadId: number,
  timeout = ARRIVAL_S,
  until?: 'parted',
): Promise<SteppedThreads> {
  const how = { timeout, ...(until && { until }) };
  const stepped = await connection.request('raydap/step', { threadId, command: 'next', ...how });
  // The message may stay for long.
  void tellWhoParted(connection, stepped);
  return stepped;
}

async function tellWhoParted(connection: ClusterConnection, stepped: SteppedThreads): Promise<void> {
  const message = steppedMessage(stepped);
  const [first] = stepped.groups?.[0]?.members ?? [];
  if (message === undefined || first === undefined) {
    return;
  }
  const show = 'Show';
  if ((await vscode.window.showWarningMessage(message, show)) === show) {
    await connection.request('raydap/focus', { threadId: first });
  }
}

/** The selection in the call stack, if it belongs to this cluster. */
function activeItem(
  sessions: DebugSessions,
  connection: ClusterConnection,
): vscode.DebugThread | vscode.DebugStackFrame | undefined {
  const item = vscode.debug.activeStackItem;
  return item?.session.id === sessions.sessionOf(connection)?.id ? item : undefined;
}

/** Asks for an expression, and shows its values in these threads; without `threads`, in all that are stopped. */
export async function askAndEvaluate(
  connection: ClusterConnection,
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
    await panel.show(connection, expression.trim(), threads);
  }
}

/** The selection in the editor, if it is within one line, as an expression is. */
function selectedText(): string | undefined {
  const editor = vscode.window.activeTextEditor;
  const text = editor?.document.getText(editor.selection).trim();
  return text === undefined || text === '' || text.includes('\n') ? undefined : text;
}
