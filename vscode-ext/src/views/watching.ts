/** Starts the bridges that watch, and offers the next step where one cannot. */

import * as vscode from 'vscode';

import { HUB, type Configuration } from '../bridge/configuration';
import { argumentsFor, type Cluster } from '../bridge/clusters';
import { watching, type Live } from '../bridge/live';
import { ofInterpreter } from '../bridge/problems';
import { Refused, Watcher, type Listener } from '../bridge/watcher';
import type { Adapters } from '../debug/adapters';
import { findInterpreter } from '../debug/python';
import type { Remedies } from '../debug/remedies';
import type { Lookout } from './lookout';

export async function watch(adapters: Adapters, cluster: Cluster, listener: Listener): Promise<Watcher> {
  const folder = firstFolder();
  const finding = await findInterpreter(folder);
  const problem = ofInterpreter(finding);
  if (problem !== undefined) {
    throw new Refused(problem);
  }
  const command = await adapters.command(finding.python, configurationOf(cluster), folder);
  return Watcher.start(command, adapters.cwd, watching(cluster, folder?.uri.fsPath), listener);
}

/** Shows what keeps a cluster from being watched, with buttons for what can be done. */
export async function repair(live: Live, lookout: Lookout, remedies: Remedies): Promise<void> {
  if (live.status.kind !== 'failed') {
    return;
  }
  const { problem } = live.status;
  const folder = firstFolder();
  const { python } = await findInterpreter(folder);
  const again = async ({ dashboard, hub }: Partial<Configuration>): Promise<void> => {
    const address = hub ?? dashboard;
    if (typeof address === 'string') {
      await lookout.change(live, { address });
    }
    live.reconnect();
  };
  remedies.show(problem, { folder, python, configuration: configurationOf(live.cluster), again });
}

function configurationOf(cluster: Cluster): Configuration {
  const where = argumentsFor(cluster);
  return {
    type: 'raydap',
    request: 'attach',
    name: cluster.name,
    ...('hub' in where ? { [HUB]: where.hub } : where),
  };
}

function firstFolder(): vscode.WorkspaceFolder | undefined {
  return vscode.workspace.workspaceFolders?.[0];
}
