/** The Stacks view: the stacks of all workers of the session as one tree. */

import * as vscode from 'vscode';

import type { ClusterConnection } from '../model/cluster-connection';
import { LatestRead } from '../model/timers';
import { stackRows, type StackRow } from '../text/stack-rows';
import type { ClusterFilter } from './cluster-filter';
import type { DebugSessions } from './debug-sessions';
import { RowTree } from './row-tree';

/** The shortest pause before a read of all stacks. After a read that took longer, the pause is as long as that read. */
const INTERVAL_MS = 500;

/** The number of requested members per row: all of them, because the actions of a row apply to all. */
const MAX_MEMBERS = 100_000;

/** The rows of one read, with the cluster that was read. */
interface Stacks {
  readonly connection: ClusterConnection | undefined;
  readonly rows: readonly StackRow[];
}

/** The view and the provider of its rows. */
export class StackTree extends RowTree<StackRow> {
  /** The duration of the last read. */
  private tookMs = 0;
  /** Whether to include workers that run. */
  private running = false;
  /** The cluster whose stacks are shown. */
  private shown: ClusterConnection | undefined;
  /** The cluster of the present read, else of the last one. */
  private asked: ClusterConnection | undefined;
  private readonly update = new LatestRead(
    () => this.read(),
    (stacks: Stacks) => this.show(stacks),
    () => Math.max(INTERVAL_MS, this.tookMs),
  );
  private readonly subscriptions: vscode.Disposable;

  constructor(
    private readonly sessions: DebugSessions,
    private readonly filter: Pick<ClusterFilter, 'selectOf' | 'onDidChange'>,
  ) {
    super('raydap.stacks');
    this.view.onDidChangeVisibility(() => this.changed());
    this.subscriptions = vscode.Disposable.from(
      vscode.debug.onDidChangeActiveDebugSession(() => this.changed()),
      // The rows have workers that the new filter hides. Do not wait for a read that has begun before.
      filter.onDidChange(() => this.changed(true)),
    );
  }

  /**
   * Read the stacks again, because workers, the filter or the active session have changed. Do nothing while the view is
   * hidden. If `isOther` is true, drop the answer of a read that has begun before.
   */
  changed(isOther = false): void {
    if (!this.view.visible) {
      return;
    }
    if (this.connection === this.asked && !isOther) {
      this.update.call();
    } else {
      // Another session has the focus. Read without waiting for the answer of the previous session, which may be slow.
      void this.update.restart();
    }
  }

  /** Include or leave out the workers that run. Their stacks are read without stopping them. */
  showRunning(running: boolean): void {
    this.running = running;
    void vscode.commands.executeCommand('setContext', 'raydap.stacksOfRunning', running);
    this.changed();
  }

  /** The cluster of the shown rows. The thread ids in the rows are valid for this cluster only. */
  get connectionOfRows(): ClusterConnection | undefined {
    return this.shown;
  }

  /** The set to which the filter limits the rows; undefined if they contain all workers. */
  get select(): string | undefined {
    return this.filter.selectOf(this.shown);
  }

  /** The cluster to read; undefined if no session debugs one. */
  get connection(): ClusterConnection | undefined {
    const { current } = this.sessions;
    return current?.session === undefined ? undefined : current;
  }

  override getTreeItem(row: StackRow): vscode.TreeItem {
    const item = super.getTreeItem(row);
    item.command = { command: 'raydap.goToStack', title: 'Go to Source', arguments: [row.id] };
    return item;
  }

  override dispose(): void {
    vscode.Disposable.from(this.subscriptions, this.update).dispose();
    super.dispose();
  }

  private async read(): Promise<Stacks> {
    const begun = Date.now();
    const { connection } = this;
    this.asked = connection;
    try {
      const select = this.filter.selectOf(connection);
      const wanted = { running: this.running, maxMembers: MAX_MEMBERS, ...(select !== undefined && { select }) };
      const stacks = await connection?.request('raydap/stacks', wanted);
      return { connection, rows: stacks === undefined ? [] : stackRows(stacks) };
    } catch {
      // The session or its workers have just ended.
      return { connection, rows: [] };
    } finally {
      this.tookMs = Date.now() - begun;
    }
  }

  private show({ connection, rows }: Stacks): void {
    this.shown = connection;
    this.view.message = rows.length === 0 ? 'No worker is stopped.' : '';
    this.replace(rows);
  }
}
