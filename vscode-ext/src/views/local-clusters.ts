/** The clusters that run on this machine, which the view lists by itself. */

import * as vscode from 'vscode';

import type { AdapterFactory } from '../debug/adapter-factory';
import { findSelectedInterpreter } from '../debug/selected-interpreter';
import type { ClusterRegistry } from '../model/cluster-registry';
import { listClusters } from '../process/cluster-list';
import { clusterListCommand } from '../process/command';

/** The list of these clusters. While it is watched, one process of this window keeps it up to date. */
export class LocalClusters implements vscode.Disposable {
  /** The start of the process, and later the function that ends it; undefined without a process. */
  private current: { end?: () => void } | undefined;

  constructor(
    private readonly registry: Pick<ClusterRegistry, 'setRunning'>,
    private readonly adapters: Pick<AdapterFactory, 'cwd'>,
  ) {}

  /** Start the process unless there is one. If the user does not want the list, end the process and empty the list. */
  watch(): void {
    if (!vscode.workspace.getConfiguration('raydap').get<boolean>('listLocalClusters', true)) {
      this.rest();
      this.registry.setRunning([]);
    } else if (this.current === undefined) {
      void this.start((this.current = {}));
    }
  }

  /** End the process. The view keeps the clusters that it shows. */
  rest(): void {
    this.current?.end?.();
    this.current = undefined;
  }

  dispose(): void {
    this.rest();
  }

  private async start(current: { end?: () => void }): Promise<void> {
    const finding = await findSelectedInterpreter(vscode.workspace.workspaceFolders?.[0]);
    if (this.current !== current) {
      return;
    }
    const forget = (): void => (this.current = undefined);
    if (finding.kind === 'ready') {
      const changed = (addresses: readonly string[]): void => this.registry.setRunning(addresses);
      current.end = listClusters(clusterListCommand(finding.python), this.adapters.cwd, changed, forget);
    } else {
      // There is no list without raydap. A saved cluster or a session shows what is wrong with the interpreter.
      forget();
    }
  }
}
