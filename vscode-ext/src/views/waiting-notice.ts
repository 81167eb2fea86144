/** The notification that workers of a watched cluster wait for a debugger. */

import * as vscode from 'vscode';

import { showingError } from '../debug/error-message';
import type { ClusterConnection } from '../model/cluster-connection';
import { Debounce } from '../model/timers';
import { waitingText } from '../text/count-message';
import type { ClusterFilter } from './cluster-filter';

/** The time without a change after which the notification is shown. The workers of a job pause one after the other. */
const DEBOUNCE_MS = 1_500;

/**
 * The notification. It is shown once for each time that workers begin to wait, and only while the Ray view, which lists
 * them, is hidden.
 */
export class WaitingNotice implements vscode.Disposable {
  /** The clusters whose waiting workers have been announced. */
  private readonly announced = new Set<ClusterConnection>();
  private waiting: readonly ClusterConnection[] = [];
  private readonly announce = new Debounce(() => {
    const all = this.waiting.filter((connection) => !this.announced.has(connection));
    for (const connection of all) {
      this.announced.add(connection);
      if (!this.view.visible && isEnabled()) {
        showingError(this.ask(connection));
      }
    }
  }, DEBOUNCE_MS);

  constructor(
    private readonly view: Pick<vscode.TreeView<unknown>, 'visible'>,
    private readonly filter: Pick<ClusterFilter, 'tallyOf'>,
    private readonly debug: (connection: ClusterConnection) => PromiseLike<unknown>,
  ) {}

  update(connections: readonly ClusterConnection[]): void {
    this.waiting = connections.filter(
      (connection) => connection.status.kind === 'watching' && this.countOf(connection) > 0,
    );
    connections
      .filter((connection) => !this.waiting.includes(connection))
      .forEach((connection) => this.announced.delete(connection));
    if (this.waiting.some((connection) => !this.announced.has(connection))) {
      this.announce.call();
    }
  }

  dispose(): void {
    this.announce.dispose();
  }

  private countOf(connection: ClusterConnection): number {
    return this.filter.tallyOf(connection, connection.tree.root).paused;
  }

  private async ask(connection: ClusterConnection): Promise<void> {
    const [debug, never] = ['Debug', "Don't Show Again"] as const;
    const text = waitingText(this.countOf(connection), connection.cluster.name);
    const chosen = await vscode.window.showInformationMessage(text, debug, never);
    if (chosen === debug) {
      await this.debug(connection);
    } else if (chosen === never) {
      await vscode.workspace
        .getConfiguration('raydap')
        .update('notifyWaitingWorkers', false, vscode.ConfigurationTarget.Global);
    }
  }
}

function isEnabled(): boolean {
  return vscode.workspace.getConfiguration('raydap').get<boolean>('notifyWaitingWorkers', true);
}
