/** What is seen without the view: the badge of its icon, the status bar, and a warning when stopped workers are gone. */

import * as vscode from 'vscode';

import { counted, noTally, SHOWN, waiting, type Tally, type Worker } from '../bridge/worker';
import type { Live } from '../bridge/live';

/** So many are named in one message. */
const NAMED = 3;

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

export async function warnOf(dead: readonly Worker[]): Promise<void> {
  const names = dead.slice(0, NAMED).map(({ name }) => name);
  const more = dead.length > NAMED ? ` and ${dead.length - NAMED} more` : '';
  const who = dead.length === 1 ? 'A stopped worker is gone' : `${dead.length} stopped workers are gone`;
  const text = `${who}: ${names.join(', ')}${more}.`;
  const show = 'Show';
  if ((await vscode.window.showWarningMessage(text, show)) === show) {
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
