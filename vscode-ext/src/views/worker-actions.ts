/** The actions on the workers that a command was called for. They leave out workers that the filter hides. */

import * as vscode from 'vscode';

import { ClusterConnection } from '../model/cluster-connection';
import { GroupNode, WorkerNode, type TreeNode } from '../model/worker-tree';
import { actionTitle, countMessage } from '../text/count-message';
import type { ClusterFilter } from './cluster-filter';
import type { CommandTargets, Requester } from './command-target';

/** The part of the filter that commands use. */
export type Filter = Pick<ClusterFilter, 'shows' | 'selectOf'>;

/** The time for which the number of workers stays in the status bar. */
const COUNT_SHOWN_MS = 8_000;

/** The workers of one cluster that an action is called with. */
export interface ActedOn {
  readonly connection: ClusterConnection;
  readonly requester: Requester;
  readonly nodes: readonly WorkerNode[];
}

/** An action on workers. */
export interface Action {
  /** The beginning of the question before the action, like `Continue`; undefined if the action changes nothing. */
  readonly verb?: string;
  /** The end of the message after the action, like `continued`; undefined for no message. */
  readonly done?: string;
  /** Whether the action applies to a worker. `isOwnRow` is true if the worker itself was chosen, not its group. */
  readonly isWanted: (node: WorkerNode, isOwnRow: boolean) => boolean;
  /** Whether the action applies to the whole group of a chosen worker. */
  readonly isOfGroup?: boolean;
  /** Whether the action needs a debug session. */
  readonly needsSession: boolean;
  /** Act on the workers of all clusters. There is at least one worker. */
  readonly act: (parts: readonly ActedOn[]) => PromiseLike<unknown>;
}

/** The runner of the actions. */
export class WorkerActions {
  constructor(
    private readonly targets: CommandTargets,
    private readonly filter: Filter,
  ) {}

  /**
   * Run an action on the workers in or below the rows that VS Code has called the command with (`args`), else on those
   * of the selection or of the focus. Ask before it acts on several workers, unless it was called on the rows that
   * contain them. Show their number afterwards.
   */
  async run(action: Action, args: readonly unknown[]): Promise<void> {
    const choice = await this.targets.choose(args, action.needsSession);
    if (choice === undefined) {
      return;
    }
    let hidden = 0;
    let isShown = choice.isCalled;
    const parts: ActedOn[] = [];
    for (const { connection, requester, rows, tree } of choice.parts) {
      const shown = [...tree.root.workers()].filter((node) => isStopped(node) && this.filter.shows(connection, node));
      const groups = action.isOfGroup !== true ? rows : rows.length > 0 ? rows.map(groupOf) : await chooseGroup(shown);
      if (groups.length === 0) {
        return action.isOfGroup === true ? undefined : askForWorker();
      }
      isShown = rows.length === 0 || (isShown && groups.every((group) => rows.includes(group)));
      const wanted = workersOf(groups).filter((node) => action.isWanted(node, rows.includes(node)));
      const nodes = wanted.filter((node) => this.filter.shows(connection, node));
      hidden += wanted.length - nodes.length;
      parts.push({ connection, requester, nodes });
    }
    const all = parts.flatMap(({ nodes }) => nodes);
    if (action.verb === undefined || isShown || (await isConfirmed(action.verb, all, hidden))) {
      if (all.length > 0) {
        await action.act(parts.filter(({ nodes }) => nodes.length > 0));
      }
      if (action.done !== undefined) {
        reportCount(action.done, all.length, hidden);
      }
    }
  }
}

/** Return a function that acts on the workers of each cluster, one after the other. */
export function forEachCluster(act: (part: ActedOn) => PromiseLike<unknown>): Action['act'] {
  return async (parts) => {
    for (const part of parts) {
      await act(part);
    }
  };
}

/** Let the user choose a group of stopped workers, unless there is one worker. Return nothing if the user chose none. */
async function chooseGroup(stopped: readonly WorkerNode[]): Promise<readonly GroupNode[]> {
  const groups = [...new Set(stopped.map(({ parent }) => parent))];
  if (stopped.length < 2) {
    return groups;
  }
  const items = groups.map((group) => {
    const workers = stopped.filter(({ parent }) => parent === group).map(({ worker }) => worker);
    return {
      label: group.name,
      description: actionTitle('Continue', workers),
      detail: group.parent?.name ?? '',
      group,
    };
  });
  const chosen = await vscode.window.showQuickPick(items, { title: 'Continue Group' });
  return chosen === undefined ? [] : [chosen.group];
}

/**
 * Show what a command acts on, like `Continue 12 Trainers`, and let the user confirm or dismiss it. Return true without
 * a question if there is at most one worker.
 */
export async function isConfirmed(verb: string, nodes: readonly WorkerNode[], hidden: number): Promise<boolean> {
  if (nodes.length < 2 || !vscode.workspace.getConfiguration('raydap').get<boolean>('confirmCommands', true)) {
    return true;
  }
  const label = actionTitle(
    verb,
    nodes.map(({ worker }) => worker),
  );
  const detail = hidden === 0 ? [] : [`${hidden} hidden by the filter are left out.`];
  const names = nodes.slice(0, MAX_NAMED).map(({ worker }) => worker.title);
  const description = [...names, ...(nodes.length > MAX_NAMED ? ['…'] : [])].join(', ');
  const item = { label, description, detail: detail.join('') };
  return (await vscode.window.showQuickPick([item], { title: verb, placeHolder: 'Press Enter to confirm' })) === item;
}

const MAX_NAMED = 4;

/** Show the number of workers that a command has acted on in the status bar, and the number of hidden ones. */
export function reportCount(done: string, count: number, hidden = 0): void {
  const text = countMessage(done, count, hidden);
  if (text !== undefined) {
    vscode.window.setStatusBarMessage(`Ray: ${text}`, COUNT_SHOWN_MS);
  }
}

/** Ask the user to select a worker, because a command has no worker to act on. */
export async function askForWorker(): Promise<void> {
  // VS Code cuts a message without a button after its first line.
  const show = 'Show the call stack';
  const text = 'Select a worker in the Ray view or a stopped worker in the call stack, and run the command again.';
  if ((await vscode.window.showInformationMessage(text, show)) === show) {
    await vscode.commands.executeCommand('workbench.debug.action.focusCallStackView');
  }
}

/** Return the workers in or below these rows, each once. */
function workersOf(rows: readonly (ClusterConnection | TreeNode)[]): WorkerNode[] {
  const nodes = rows.flatMap((row) => {
    const group = row instanceof ClusterConnection ? row.tree.root : row;
    return group instanceof GroupNode ? [...group.workers()] : [group];
  });
  return [...new Set(nodes)];
}

/** Return the group of a worker's row; other rows stand for themselves. */
function groupOf(row: ClusterConnection | TreeNode): ClusterConnection | TreeNode {
  return row instanceof WorkerNode ? row.parent : row;
}

/** Return the ids of the stopped threads of workers. */
export function threadIdsOf(nodes: readonly WorkerNode[]): number[] {
  return nodes.flatMap(({ worker }) => worker.threads.map(({ threadId }) => threadId));
}

export function isStopped({ worker }: WorkerNode): boolean {
  return worker.state === 'stopped';
}
