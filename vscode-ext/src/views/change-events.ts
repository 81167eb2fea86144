/** The changes of the clusters, collected so that one update of the view shows many of them. */

import * as vscode from 'vscode';

import type { ClusterConnection } from '../model/cluster-connection';
import { Debounce, Throttle } from '../model/timers';
import { isLoss, type Change } from '../model/worker-tree';
import type { Losses } from '../text/loss-message';

/** The shortest time between two updates of the view. A step is over within this time. */
const UPDATE_INTERVAL_MS = 250;

/**
 * The shortest time between two updates, per worker of the largest changed cluster. It applies if it is longer than
 * UPDATE_INTERVAL_MS. An update makes VS Code draw all rows of a cluster, which takes about a millisecond per row. More
 * frequent updates would queue up, and the counts in the view would be seconds behind the status bar.
 */
const UPDATE_INTERVAL_MS_PER_WORKER = 2;

/** The time without a further loss after which the message is shown. A failing node loses its workers one by one. */
const LOSS_DEBOUNCE_MS = 1500;

/** The events about changed clusters and lost workers. */
export class ChangeEvents implements vscode.Disposable {
  private changed = new Set<ClusterConnection>();
  private losses: Change[] = [];
  private readonly changeEmitter = new vscode.EventEmitter<ReadonlySet<ClusterConnection>>();
  private readonly lossEmitter = new vscode.EventEmitter<Losses>();
  private readonly update = new Throttle(
    () => {
      const { changed } = this;
      this.changed = new Set();
      this.changeEmitter.fire(changed);
    },
    () =>
      Math.max(UPDATE_INTERVAL_MS, ...[...this.changed].map(({ tree }) => tree.size * UPDATE_INTERVAL_MS_PER_WORKER)),
  );
  private readonly reportLosses = new Debounce(() => {
    const [first, ...others] = this.losses;
    this.losses = [];
    if (first !== undefined) {
      this.lossEmitter.fire([first, ...others]);
    }
  }, LOSS_DEBOUNCE_MS);

  /** Fires with the clusters whose workers or status have changed, or that were added to the list or removed. */
  readonly onDidChange = this.changeEmitter.event;
  /** Fires with the workers that have crashed, or that the debugger has lost. */
  readonly onDidLose = this.lossEmitter.event;

  /** Record the changes of a cluster. Losses are reported only while a session debugs it. */
  add(connection: ClusterConnection, changes: readonly Change[]): void {
    this.changed.add(connection);
    const losses = connection.session === undefined ? [] : changes.filter(isLoss);
    if (losses.length > 0) {
      this.losses.push(...losses);
      this.reportLosses.call();
    }
    this.update.call();
  }

  dispose(): void {
    vscode.Disposable.from(this.update, this.reportLosses, this.changeEmitter, this.lossEmitter).dispose();
  }
}
