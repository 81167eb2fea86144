/** The period in which clusters are watched. Each watched cluster takes a process. */

import * as vscode from 'vscode';

import type { ClusterRegistry } from '../model/cluster-registry';
import { Debounce, NODE_TIMERS, type Timers } from '../model/timers';

/** The time after which a window that is not used ends its watchers. */
const UNUSED_MS = 10 * 60_000;

/**
 * The period begins when the Ray view is visible for the first time. It is interrupted while the view is hidden and
 * another window has had the focus for ten minutes, so that only windows in use have watchers.
 */
export class WatchPeriod implements vscode.Disposable {
  private isResting = false;
  private readonly rest: Debounce;
  private readonly subscriptions: vscode.Disposable;

  constructor(
    private readonly view: Pick<vscode.TreeView<unknown>, 'visible' | 'onDidChangeVisibility'>,
    private readonly watchers: readonly Pick<ClusterRegistry, 'watch' | 'rest'>[],
    timers: Timers = NODE_TIMERS,
  ) {
    this.rest = new Debounce(
      () => {
        this.isResting = true;
        watchers.forEach((each) => each.rest());
      },
      UNUSED_MS,
      timers,
    );
    const update = (): void => this.update();
    this.subscriptions = vscode.Disposable.from(
      view.onDidChangeVisibility(update),
      vscode.window.onDidChangeWindowState(update),
      // Try again to watch all clusters: the changed setting may have been the reason for a failure.
      vscode.workspace.onDidChangeConfiguration((change) => {
        if (change.affectsConfiguration('raydap')) {
          update();
        }
      }),
    );
    update();
  }

  dispose(): void {
    vscode.Disposable.from(this.subscriptions, this.rest).dispose();
  }

  private update(): void {
    const { focused } = vscode.window.state;
    if (!this.view.visible && !focused) {
      this.rest.call();
      return;
    }
    this.rest.dispose();
    // A failed cluster is not tried again with each change of the focus, but whenever the view is shown.
    if (this.view.visible || this.isResting) {
      this.isResting = false;
      this.watchers.forEach((each) => each.watch());
    }
  }
}
