/** The Waits view: what each worker waits for, and the deadlocks. It is read when the user asks for it. */

import * as vscode from 'vscode';

import type { ClusterConnection } from '../model/cluster-connection';
import { Latest } from '../model/timers';
import { waitRows, type WaitRow } from '../text/wait-rows';
import type { ClusterFilter } from './cluster-filter';
import { RowTree } from './row-tree';

/** The view and the provider of its rows. */
export class WaitsTree extends RowTree<WaitRow> {
  private readonly latest = new Latest();

  constructor(private readonly filter: Pick<ClusterFilter, 'selectOf'>) {
    super('raydap.waits');
  }

  /** Read the waits of a cluster and show them, unless a later call has already begun. No worker is stopped. */
  async show(connection: ClusterConnection): Promise<void> {
    const isLatest = this.latest.begin();
    await vscode.commands.executeCommand('raydap.waits.focus');
    const select = this.filter.selectOf(connection);
    const reading = connection.request('raydap/waits', select === undefined ? {} : { select });
    const graph = await vscode.window.withProgress({ location: { viewId: 'raydap.waits' } }, () => reading);
    if (!isLatest()) {
      return;
    }
    const rows = waitRows(graph);
    this.replace(rows);
    this.view.description = `${connection.cluster.name}, ${new Date().toLocaleTimeString()}`;
    this.view.message = rows.length === 0 ? 'No workers are running.' : '';
  }
}
