/** The Stacks view: the stacks of all workers of the session as one tree. */

import * as vscode from 'vscode';

import type { ClusterConnection } from '../model/cluster-connection';
import { LatestRead } from '../model/timers';
import { stackRows, type StackRow } from '../text/stack-rows';
import type { DebugSessions } from './debug-sessions';

/** The least time between two reads of all stacks; a read that takes longer has a pause of its own length after it. */
const INTERVAL_MS = 500;

/** All members, because the actions of a row are for all of them. */
const MAX_MEMBERS = 100_000;

interface Stacks {
  readonly connection: ClusterConnection | undefined;
  readonly rows: readonly StackRow[];
}

export class StackTree implements vscode.TreeDataProvider<StackRow>, vscode.Disposable {
  private readonly refresh = new vscode.EventEmitter<undefined>();
  readonly onDidChangeTreeData = this.refresh.event;
  private rows: readonly StackRow[] = [];
  private readonly parents = new WeakMap<StackRow, StackRow>();
  private tookMs = 0;
  private running = false;
  /** The cluster that the rows are of. */
  private shown: ClusterConnection | undefined;
  /** The cluster that is read or was read last. */
  private asked: ClusterConnection | undefined;
  private readonly update = new LatestRead(
    () => this.read(),
    (stacks: Stacks) => this.show(stacks),
    () => Math.max(INTERVAL_MS, this.tookMs),
  );
  private readonly subscription = vscode.debug.onDidChangeActiveDebugSession(() => this.changed());
  readonly view: vscode.TreeView<StackRow>;

  constructor(private readonly sessions: DebugSessions) {
    this.view = vscode.window.createTreeView('raydap.stacks', { treeDataProvider: this });
    this.view.onDidChangeVisibility(() => this.changed());
  }

  /** The workers have changed. */
  changed(): void {
    if (!this.view.visible) {
      return;
    }
    if (this.connection === this.asked) {
      this.update.call();
    } else {
      // Another session has the focus, and this one may answer slowly.
      void this.update.restart();
    }
  }

  /** With the workers that run, whose stacks are read without stopping them; or without. */
  showRunning(running: boolean): void {
    this.running = running;
    void vscode.commands.executeCommand('setContext', 'raydap.stacksOfRunning', running);
    this.changed();
  }

  /** The cluster of the rows: the ids of threads in the rows mean nothing to another one. */
  get connectionOfRows(): ClusterConnection | undefined {
    return this.shown;
  }

  get connection(): ClusterConnection | undefined {
    const { current } = this.sessions;
    return current?.session === undefined ? undefined : current;
  }

  getChildren(row?: StackRow): StackRow[] {
    return [...(row === undefined ? this.rows : row.children)];
  }

  getParent(row: StackRow): StackRow | undefined {
    return this.parents.get(row);
  }

  getTreeItem(row: StackRow): vscode.TreeItem {
    const { None, Expanded } = vscode.TreeItemCollapsibleState;
    const item = new vscode.TreeItem(row.label, row.children.length === 0 ? None : Expanded);
    item.id = row.id;
    item.description = row.description;
    item.tooltip = row.tooltip;
    item.iconPath = new vscode.ThemeIcon(row.icon);
    item.contextValue = row.context;
    item.command = { command: 'raydap.goToStack', title: 'Go to Source', arguments: [row] };
    return item;
  }

  dispose(): void {
    vscode.Disposable.from(this.subscription, this.update, this.view, this.refresh).dispose();
  }

  private async read(): Promise<Stacks> {
    const begun = Date.now();
    const { connection } = this;
    this.asked = connection;
    try {
      const wanted = { running: this.running, maxMembers: MAX_MEMBERS };
      const stacks = await connection?.request('raydap/stacks', wanted);
      return { connection, rows: stacks === undefined ? [] : stackRows(stacks) };
    } catch {
      // The session has just ended, or its workers have.
      return { connection, rows: [] };
    } finally {
      this.tookMs = Date.now() - begun;
    }
  }

  private show({ connection, rows }: Stacks): void {
    const before = JSON.stringify(this.rows);
    this.shown = connection;
    this.rows = rows;
    this.view.message = this.rows.length === 0 ? 'No worker is stopped.' : '';
    this.adopt(this.rows);
    // VS Code loses a click on a row that is replaced at this moment, even by an equal one.
    if (JSON.stringify(this.rows) !== before) {
      this.refresh.fire(undefined);
    }
  }

  private adopt(rows: readonly StackRow[], parent?: StackRow): void {
    for (const row of rows) {
      if (parent !== undefined) {
        this.parents.set(row, parent);
      }
      this.adopt(row.children, row);
    }
  }
}
