/** Collects changes of the clusters, so that the view shows many of them at once. */

import * as vscode from 'vscode';

import type { ClusterConnection } from '../model/cluster-connection';
import { Debounce, Throttle } from '../model/timers';
import { isLoss, type Change } from '../model/worker-tree';
import type { Losses } from '../text/loss-message';

/** The view is updated a few times a second only, because a step is over within this time. */
const UPDATE_INTERVAL_MS = 250;

/**
 * VS Code shows all rows of a cluster anew with each update, which takes about a millisecond for each. Updates that came
 * faster would queue up, and the counts in the view would be seconds behind those in the status bar.
 */
const UPDATE_INTERVAL_MS_PER_WORKER = 2;

/** The time without a further loss before the message. A node that fails loses its workers one after the other. */
const LOSS_DEBOUNCE_MS = 1500;

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

  /** The workers or the status of these clusters have changed, or the clusters were added to the list or removed. */
  readonly onDidChange = this.changeEmitter.event;
  /** Workers have crashed, or the debugger has lost them. */
  readonly onDidLose = this.lossEmitter.event;

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
