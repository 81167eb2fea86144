/** The session, the thread and the rows that a command acts on. */

import * as vscode from 'vscode';

import { ClusterConnection } from '../model/cluster-connection';
import type { WorkerSource } from '../model/worker-source';
import { GroupNode, WorkerNode, WorkerTree, type TreeNode } from '../model/worker-tree';
import { lostRow } from './commands';
import type { DebugSessions } from './debug-sessions';
import { isTreeNode, type Element } from './tree-elements';

/** A session that answers requests: a connection, or a second session that debugs the same cluster. */
export type Requester = Pick<WorkerSource, 'request'>;

/** The target of one call of a command. */
export interface Target {
  readonly connection: ClusterConnection;
  /** The receiver of the command's requests. */
  readonly requester: Requester;
  /** The id of the VS Code session that answers the requests. */
  readonly sessionId: string;
  /** The thread on which the command was called, else the focused thread of the session; undefined without either. */
  readonly threadId: number | undefined;
  /**
   * The rows of the Ray view on which the command was called, else the selected rows; empty if it acts on a session.
   */
  readonly rows: readonly Element[];
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
   * Return the target of a command that VS Code has called with `args`: the row or the thread on which it was called;
   * else the selected rows, if `selection` is true; else the focused session and thread. Show a message if there is no
   * target.
   */
  async of(args: readonly unknown[], options: { readonly selection?: boolean } = {}): Promise<Target | undefined> {
    const [row, rows] = args;
    const context = contextOf(args);
    if (args.length > 1 && (row ?? undefined) === undefined) {
      lostRow();
      return undefined;
    }
    if (isElement(row) || context !== undefined) {
      const target = isElement(row) ? this.ofRows(row, rows) : context && this.ofCallStack(context, args);
      if (target === undefined) {
        noSession();
      }
      return target;
    }
    const { selection, visible } = this.view;
    if (options.selection === true && visible && this.isRowLatest && selection[0] !== undefined) {
      const selected = this.ofRows(selection[0], selection);
      if (selected !== undefined) {
        return selected;
      }
    }
    const [threadId] = args;
    return this.ofFocus(typeof threadId === 'number' ? threadId : undefined);
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

  private ofRows(row: Element, rows: unknown): Target | undefined {
    const connection = this.connectionOf(row);
    if (connection?.session === undefined) {
      return undefined;
    }
    const all = Array.isArray(rows) && rows.includes(row) ? (rows as (Element | undefined)[]) : [row];
    const own = all.filter((each) => each !== undefined && this.connectionOf(each) === connection) as Element[];
    return { connection, requester: connection, sessionId: connection.session.id, threadId: undefined, rows: own };
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
    return debuggee && { ...debuggee, threadId: threadId ?? this.threadOf(session), rows: [] };
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

function isElement(value: unknown): value is ClusterConnection | TreeNode {
  return value instanceof ClusterConnection || value instanceof GroupNode || value instanceof WorkerNode;
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
