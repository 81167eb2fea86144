/** The indicators outside the view: the badge of its icon, the status bar, and a warning when workers are lost. */

import * as vscode from 'vscode';

import type { ClusterConnection } from '../model/cluster-connection';
import { countsText, sumOf, waitingCount, type Tally } from '../model/tally';
import { lossMessage, type Losses } from '../text/loss-message';
import type { ClusterFilter } from './cluster-filter';

/** The badge and the item in the status bar. */
export class Indicators implements vscode.Disposable {
  private readonly statusBar = vscode.window.createStatusBarItem('raydap.status', vscode.StatusBarAlignment.Left, 40);

  constructor(
    private readonly view: vscode.TreeView<unknown>,
    private readonly filter: Pick<ClusterFilter, 'tallyOf' | 'selectOf'>,
  ) {
    this.statusBar.name = 'Ray Workers';
    this.statusBar.command = 'raydap.clusters.focus';
    const tooltip = new vscode.MarkdownString(
      'Ray workers: [Show](command:raydap.clusters.focus) · [Show Log](command:raydap.showLog) · ' +
        '[Restart Session](command:workbench.action.debug.restart)',
    );
    tooltip.isTrusted = {
      enabledCommands: ['raydap.clusters.focus', 'raydap.showLog', 'workbench.action.debug.restart'],
    };
    this.statusBar.tooltip = tooltip;
  }

  update(connections: readonly ClusterConnection[]): void {
    const all = this.tallyOf(connections);
    const value = waitingCount(all);
    this.view.badge = value === 0 ? undefined : { value, tooltip: countsText(all, ['running', 'gone', 'alive']) };
    const debugged = connections.filter(({ session }) => session !== undefined);
    if (debugged.length === 0) {
      this.statusBar.hide();
      return;
    }
    const filtered = debugged.some((each) => this.filter.selectOf(each) !== undefined) ? ' $(filter)' : '';
    this.statusBar.text = `Ray: ${countsText(this.tallyOf(debugged)) || 'no worker is stopped'}${filtered}`;
    this.statusBar.show();
  }

  dispose(): void {
    this.statusBar.dispose();
  }

  /** Return the counts of the workers that the filter shows. */
  private tallyOf(connections: readonly ClusterConnection[]): Tally {
    return sumOf(connections.map((connection) => this.filter.tallyOf(connection, connection.tree.root)));
  }
}

/** Show a warning about lost workers, with a button that opens the view. */
export async function warnOfLosses(losses: Losses): Promise<void> {
  const show = 'Show';
  if ((await vscode.window.showWarningMessage(lossMessage(losses), show)) === show) {
    await vscode.commands.executeCommand('raydap.clusters.focus');
  }
}
