/** The Stacks view: the stacks of all workers of the session as one tree. */

import * as vscode from 'vscode';

import type { ClusterConnection } from '../model/cluster-connection';
import { Throttle } from '../model/timers';
import { stackRows, type StackRow } from '../text/stack-rows';
import type { DebugSessions } from './debug-sessions';

/** The least time between two looks at all stacks; a look that takes longer has a pause of its own length after it. */
const INTERVAL_MS = 500;

/** All members, because the actions of a row are for all of them. */
const MAX_MEMBERS = 100_000;

export class StackTree implements vscode.TreeDataProvider<StackRow>, vscode.Disposable {
  private readonly refresh = new vscode.EventEmitter<undefined>();
  readonly onDidChangeTreeData = this.refresh.event;
  private rows: readonly StackRow[] = [];
  private readonly parents = new WeakMap<StackRow, StackRow>();
  private tookMs = 0;
  private running = false;
  private readonly update = new Throttle(
    () => void this.read(),
    () => Math.max(INTERVAL_MS, this.tookMs),
  );
  readonly view: vscode.TreeView<StackRow>;

  constructor(private readonly sessions: DebugSessions) {
    this.view = vscode.window.createTreeView('raydap.stacks', { treeDataProvider: this });
    this.view.onDidChangeVisibility(() => this.changed());
  }

  /** The workers have changed. */
  changed(): void {
    if (this.view.visible) {
      this.update.call();
    }
  }

  /** With the workers that run, whose stacks are read without stopping them; or without. */
  showRunning(running: boolean): void {
    this.running = running;
    void vscode.commands.executeCommand('setContext', 'raydap.stacksOfRunning', running);
    this.changed();
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
    vscode.Disposable.from(this.update, this.view, this.refresh).dispose();
  }

  private async read(): Promise<void> {
    const begun = Date.now();
    const before = JSON.stringify(this.rows);
    try {
      const wanted = { running: this.running, maxMembers: MAX_MEMBERS };
      const stacks = await this.connection?.request('raydap/stacks', wanted);
      this.rows = stacks === undefined ? [] : stackRows(stacks);
    } catch {
      // The session has just ended, or its workers have.
      this.rows = [];
    }
    this.tookMs = Date.now() - begun;
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
