/** What is seen without the view: the badge of its icon, the status bar, and a warning when workers are lost. */

import * as vscode from 'vscode';

import type { Change } from '../bridge/fleet';
import type { Live } from '../bridge/live';
import { obituary } from '../bridge/words';
import { counted, noTally, SHOWN, waiting, type Tally } from '../bridge/worker';

export class Indicators implements vscode.Disposable {
  private readonly status = vscode.window.createStatusBarItem('raydap.status', vscode.StatusBarAlignment.Left, 40);

  constructor(private readonly view: vscode.TreeView<unknown>) {
    this.status.name = 'Ray Workers';
    this.status.command = 'raydap.clusters.focus';
    this.status.tooltip = 'Show the workers';
  }

  update(clusters: readonly Live[]): void {
    const all = sum(clusters);
    const value = waiting(all);
    this.view.badge = value === 0 ? undefined : { value, tooltip: counted(all, ['running', 'gone']) };
    const debugged = clusters.filter(({ session }) => session !== undefined);
    if (debugged.length === 0) {
      this.status.hide();
      return;
    }
    const counts = counted(sum(debugged));
    this.status.text = `Ray: ${counts === '' ? 'nobody is stopped' : counts}`;
    this.status.show();
  }

  dispose(): void {
    this.status.dispose();
  }
}

export async function warnOf(lost: readonly Change[]): Promise<void> {
  const show = 'Show';
  if ((await vscode.window.showWarningMessage(obituary(lost), show)) === show) {
    await vscode.commands.executeCommand('raydap.clusters.focus');
  }
}

function sum(clusters: readonly Live[]): Tally {
  const total = noTally();
  for (const { fleet } of clusters) {
    for (const state of SHOWN) {
      total[state] += fleet.root.tally[state];
    }
  }
  return total;
}
