/** The session, the thread and the workers that a command acts on. */

import * as vscode from 'vscode';

import { ClusterConnection } from '../model/cluster-connection';
import type { WorkerSource } from '../model/worker-source';
import { GroupNode, WorkerNode, WorkerTree, type TreeNode } from '../model/worker-tree';
import { lostRow } from './commands';
import type { DebugSessions } from './debug-sessions';
import { isTreeNode, type Element } from './tree-elements';

/** A session that answers requests: a connection, or a second session that debugs the same cluster. */
export type Requester = Pick<WorkerSource, 'request'>;

/** The session that a command acts on. */
export interface Target {
  readonly connection: ClusterConnection;
  /** The receiver of the command's requests. */
  readonly requester: Requester;
  /** The id of the VS Code session that answers the requests. */
  readonly sessionId: string;
  /** The thread on which the command was called, else the focused thread of the session; undefined without either. */
  readonly threadId: number | undefined;
}

/** Rows of one cluster that a command acts on. */
export interface ChosenRows {
  readonly connection: ClusterConnection;
  readonly requester: Requester;
  /** Empty if no row is selected and no thread has the focus. */
  readonly rows: readonly (ClusterConnection | TreeNode)[];
  /** All workers of the session. */
  readonly tree: WorkerTree;
}

/** The rows that a command acts on. */
export interface Choice {
  /** Whether the command was called on these rows or on a thread. Otherwise, the selection or the focus decides. */
  readonly isCalled: boolean;
  /** The rows of each cluster. */
  readonly parts: readonly ChosenRows[];
}

/** The part of VS Code's TreeView that is used. */
type RowSelection = Pick<vscode.TreeView<Element>, 'selection' | 'visible' | 'onDidChangeSelection'>;

/** The second argument of a command in the menu of the call stack (getContext in VS Code's callStackView.ts). */
interface CallStackContext {
  readonly sessionId: string;
  /** Like `thread:SESSION:12`. */
  readonly threadId?: string;
}

/** The choice of a command's target from its arguments, the selected rows and the focus. */
export class CommandTargets implements vscode.Disposable {
  /** Whether the latest selection of the user is a row, not a thread. Only the latest selection is used. */
  private isRowLatest = false;
  /** The session and thread that had the focus last. */
  private focused: string | undefined;
  private readonly subscriptions: vscode.Disposable;

  constructor(
    private readonly sessions: DebugSessions,
    private readonly view: RowSelection,
  ) {
    this.subscriptions = vscode.Disposable.from(
      view.onDidChangeSelection(({ selection }) => {
        this.isRowLatest = selection.length > 0;
      }),
      vscode.debug.onDidChangeActiveStackItem((item) => this.focusChanged(item)),
    );
  }

  /**
   * Return the session of a command that VS Code has called with `args`: that of the row or thread on which it was
   * called, else the focused one. Show a message if there is none.
   */
  async of(args: readonly unknown[]): Promise<Target | undefined> {
    const [row] = args;
    if (isLost(args)) {
      lostRow();
      return undefined;
    }
    const context = contextOf(args);
    if (isRow(row) || context !== undefined) {
      const target = isRow(row) ? this.ofRow(row) : context && this.ofCallStack(context, args);
      if (target === undefined) {
        noSession();
      }
      return target;
    }
    return this.ofFocus(typeof row === 'number' ? row : undefined);
  }

  /**
   * Return what a command acts on: the rows or the thread on which it was called, else the selected rows, else the
   * focused thread. With `needsSession`, leave out clusters without a session. Show a message if there is nothing.
   */
  async choose(args: readonly unknown[], needsSession: boolean): Promise<Choice | undefined> {
    const [, rows] = args;
    const row = this.clickedRow(args[0]) ?? args[0];
    const { selection, visible } = this.view;
    const isCalled = isRow(row) || contextOf(args) !== undefined;
    const parts = isRow(row)
      ? this.byCluster(Array.isArray(rows) && rows.includes(row) ? rows : [row], needsSession)
      : !isCalled && !isLost(args) && visible && this.isRowLatest
        ? this.byCluster(selection, needsSession)
        : [];
    if (parts.length > 0) {
      return { isCalled, parts };
    }
    if (typeof row === 'string' && !isCalled) {
      // The worker on which the user has clicked is no longer stopped.
      return undefined;
    }
    const target = await this.of(args);
    if (target === undefined) {
      return undefined;
    }
    const { connection, requester, threadId } = target;
    const tree = await treeOf(target);
    const node = nodeOf(tree, threadId);
    return { isCalled, parts: [{ connection, requester, tree, rows: node === undefined ? [] : [node] }] };
  }

  dispose(): void {
    this.subscriptions.dispose();
  }

  /** Record the focus. VS Code reports each frame and each step, but only a different thread is a new selection. */
  private focusChanged(item: vscode.DebugThread | vscode.DebugStackFrame | undefined): void {
    const focused = item && `${item.session.id} ${item.threadId}`;
    if (focused !== undefined && focused !== this.focused) {
      this.focused = focused;
      this.isRowLatest = false;
    }
  }

  /** Return the worker with this key. A click on a row passes it, because VS Code loses a row that it redraws. */
  private clickedRow(key: unknown): WorkerNode | undefined {
    const nodes = typeof key === 'string' ? this.sessions.registry.all.map(({ tree }) => tree.get(key)) : [];
    return nodes.find((node) => node?.worker.state === 'stopped');
  }

  private ofRow(row: Element): Target | undefined {
    const connection = this.connectionOf(row);
    return connection?.session === undefined
      ? undefined
      : { connection, requester: connection, sessionId: connection.session.id, threadId: undefined };
  }

  private byCluster(rows: readonly unknown[], needsSession: boolean): ChosenRows[] {
    const parts = new Map<ClusterConnection, ChosenRows & { rows: (ClusterConnection | TreeNode)[] }>();
    for (const row of rows.filter(isRow)) {
      const connection = this.connectionOf(row);
      if (connection !== undefined && (!needsSession || connection.session !== undefined)) {
        const part = parts.get(connection) ?? { connection, requester: connection, tree: connection.tree, rows: [] };
        part.rows.push(row);
        parts.set(connection, part);
      }
    }
    return [...parts.values()];
  }

  private ofCallStack(context: CallStackContext, [first]: readonly unknown[]): Target | undefined {
    const session = this.sessions.get(context.sessionId);
    const threadId = Number(/:(\d+)$/.exec(context.threadId ?? '')?.[1] ?? (typeof first === 'number' ? first : NaN));
    return session && this.ofSession(session, Number.isNaN(threadId) ? undefined : threadId);
  }

  private async ofFocus(threadId: number | undefined): Promise<Target | undefined> {
    const focused = [vscode.debug.activeStackItem?.session, vscode.debug.activeDebugSession];
    for (const session of focused) {
      const target = session && this.ofSession(session, threadId);
      if (target !== undefined) {
        return target;
      }
    }
    const session = await chooseSession(this.sessions.roots);
    return session && this.ofSession(session, threadId);
  }

  private ofSession(session: vscode.DebugSession, threadId: number | undefined): Target | undefined {
    const debuggee = this.sessions.debuggeeOf(session);
    return debuggee && { ...debuggee, threadId: threadId ?? this.threadOf(session) };
  }

  /**
   * Return the focused thread of a session or of one of its child sessions; else the first thread of a child session;
   * else the only thread of the session, for which VS Code shows no row.
   */
  private threadOf(session: vscode.DebugSession): number | undefined {
    const item = vscode.debug.activeStackItem;
    if (item !== undefined && this.sessions.isWithin(item.session, session)) {
      return item.threadId;
    }
    const worker = this.sessions.workerOf(session);
    if (worker !== undefined) {
      return worker.threads[0]?.threadId;
    }
    const debuggee = this.sessions.debuggeeOf(session);
    const isSource = debuggee !== undefined && debuggee.requester === debuggee.connection;
    const workers = isSource ? [...debuggee.connection.tree.root.workers()] : [];
    const threads = workers.flatMap((node) => node.worker.threads);
    return threads.length === 1 ? threads[0]?.threadId : undefined;
  }

  private connectionOf(row: Element): ClusterConnection | undefined {
    return isTreeNode(row)
      ? this.sessions.registry.connectionOf(row)
      : row instanceof ClusterConnection
        ? row
        : undefined;
  }
}

/** Return the workers of the target's session. A second session of a cluster has other thread ids than the first. */
export async function treeOf({ connection, requester }: Target): Promise<WorkerTree> {
  if (requester === connection) {
    return connection.tree;
  }
  const tree = new WorkerTree();
  tree.replace((await requester.request('raydap/workers', {})).workers);
  return tree;
}

/** Return the worker of a thread. */
export function nodeOf(tree: WorkerTree, threadId: number | undefined): WorkerNode | undefined {
  return [...tree.root.workers()].find(({ worker }) => worker.threads.some((thread) => thread.threadId === threadId));
}

function isRow(value: unknown): value is ClusterConnection | TreeNode {
  return value instanceof ClusterConnection || value instanceof GroupNode || value instanceof WorkerNode;
}

/** Return whether VS Code has called the command on a row and has not passed the row. */
function isLost(args: readonly unknown[]): boolean {
  return args.length > 1 && (args[0] ?? undefined) === undefined;
}

function contextOf(args: readonly unknown[]): CallStackContext | undefined {
  return args.find(
    (each): each is CallStackContext =>
      typeof each === 'object' && each !== null && typeof (each as Partial<CallStackContext>).sessionId === 'string',
  );
}

/** Let the user choose if there are several sessions. While another debugger is used, no raydap session is active. */
async function chooseSession(sessions: readonly vscode.DebugSession[]): Promise<vscode.DebugSession | undefined> {
  if (sessions.length === 0) {
    noSession();
  }
  if (sessions.length < 2) {
    return sessions[0];
  }
  const items = sessions.map((session) => ({ label: session.name, session }));
  return (await vscode.window.showQuickPick(items, { title: 'Choose a Session' }))?.session;
}

function noSession(): void {
  void vscode.window.showInformationMessage('No raydap session is running. Start one with F5.');
}
