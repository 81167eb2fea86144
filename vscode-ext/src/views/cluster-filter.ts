/** The filter of the Ray view: a set of workers, in the language that all of raydap's requests take. */

import * as vscode from 'vscode';

import { ClusterConnection } from '../model/cluster-connection';
import type { ClusterRegistry } from '../model/cluster-registry';
import { emptyTally, type ShownState, type Tally } from '../model/tally';
import { Throttle } from '../model/timers';
import { GroupNode, type TreeNode } from '../model/worker-tree';

/** The least time between two looks at who is in the set. */
const INTERVAL_MS = 1_000;

export class ClusterFilter implements vscode.Disposable {
  /** The set; empty without a filter. */
  text = '';
  private readonly changeEmitter = new vscode.EventEmitter<undefined>();
  /** Other rows are to be shown. */
  readonly onDidChange = this.changeEmitter.event;
  /** The workers in the set. A cluster that has not answered shows all. */
  private keys = new WeakMap<ClusterConnection, ReadonlySet<string>>();
  private readonly again = new Throttle(() => void this.readAll().catch(() => undefined), INTERVAL_MS);

  constructor(private readonly registry: ClusterRegistry) {}

  /** Asks for a set, and shows who is in it. */
  async ask(): Promise<void> {
    const text = await vscode.window.showInputBox({
      title: 'Filter Workers',
      prompt: 'A set, such as actor:Trainer not rank:0; nothing shows all.',
      value: this.text,
      ignoreFocusOut: true,
    });
    if (text !== undefined) {
      await this.set(text.trim());
    }
  }

  /** Rejects for a wrong set, which changes nothing. */
  async set(text: string): Promise<void> {
    const before = this.text;
    this.text = text;
    try {
      await this.readAll();
    } catch (error) {
      this.text = before;
      throw error;
    }
    void vscode.commands.executeCommand('setContext', 'raydap.filtered', text !== '');
  }

  /** The workers have changed. */
  update(): void {
    if (this.text !== '') {
      this.again.call();
    }
  }

  shows(connection: ClusterConnection | undefined, node: TreeNode): boolean {
    const keys = this.text === '' ? undefined : connection && this.keys.get(connection);
    if (keys === undefined) {
      return true;
    }
    const workers = node instanceof GroupNode ? [...node.workers()] : [node];
    return workers.some(({ worker }) => keys.has(worker.key));
  }

  /** The counts of the workers that are shown. */
  tallyOf(connection: ClusterConnection | undefined, group: GroupNode): Readonly<Tally> {
    const keys = this.text === '' ? undefined : connection && this.keys.get(connection);
    if (keys === undefined) {
      return group.tally;
    }
    const tally = emptyTally();
    for (const { worker } of group.workers()) {
      if (keys.has(worker.key)) {
        tally[worker.state as ShownState] += 1;
      }
    }
    return tally;
  }

  dispose(): void {
    vscode.Disposable.from(this.again, this.changeEmitter).dispose();
  }

  private async readAll(): Promise<void> {
    const { text } = this;
    const keys = new WeakMap<ClusterConnection, ReadonlySet<string>>();
    const connected = this.registry.all.filter(({ status }) => ['watching', 'session'].includes(status.kind));
    for (const connection of text === '' ? [] : connected) {
      const { workers } = await connection.request('raydap/select', { select: text });
      keys.set(connection, new Set(workers));
    }
    if (text === this.text) {
      this.keys = keys;
      this.changeEmitter.fire(undefined);
    }
  }
}
