/** The start of watcher processes, and the message about a cluster that cannot be watched. */

import * as vscode from 'vscode';

import type { AdapterFactory } from '../debug/adapter-factory';
import type { ProblemDialog } from '../debug/problem-dialog';
import { findSelectedInterpreter } from '../debug/selected-interpreter';
import type { ClusterConnection } from '../model/cluster-connection';
import type { ClusterRegistry } from '../model/cluster-registry';
import { HUB, hubOf, type Configuration } from '../model/configuration';
import { ProblemError } from '../model/problem';
import { configurationOf, watcherArguments, type Cluster } from '../model/saved-clusters';
import type { WatcherListener } from '../model/worker-source';
import { WatcherProcess } from '../process/watcher-process';
import { problemOfInterpreter } from '../text/problems';
import type { VersionCheck } from '../text/version-check';

/** Start a watcher process. Throw ProblemError if the selected interpreter cannot run raydap. */
export async function startWatcher(
  adapters: AdapterFactory,
  versions: VersionCheck,
  cluster: Cluster,
  listener: WatcherListener,
): Promise<WatcherProcess> {
  const folder = firstFolder();
  const finding = await findSelectedInterpreter(folder);
  const problem = problemOfInterpreter(finding);
  if (problem !== undefined) {
    throw new ProblemError(problem);
  }
  const configuration = attachConfiguration(cluster);
  return WatcherProcess.start({
    command: await adapters.command(finding.python, configuration, folder),
    cwd: adapters.cwd,
    attach: watcherArguments(cluster, folder?.uri.fsPath),
    listener,
    onInitialize: (body) => versions.check(body, hubOf(configuration)),
  });
}

/** Show why a cluster cannot be watched, with buttons for the actions that may help. */
export async function showProblem(
  connection: ClusterConnection | undefined,
  registry: ClusterRegistry,
  problems: ProblemDialog,
): Promise<void> {
  if (connection?.status.kind !== 'failed') {
    return;
  }
  const { problem } = connection.status;
  const folder = firstFolder();
  const finding = await findSelectedInterpreter(folder);
  const retry = async ({ dashboard, hub }: Partial<Configuration>): Promise<void> => {
    const address = hub ?? dashboard;
    if (typeof address === 'string') {
      await registry.change(connection, { address });
    }
    connection.reconnect();
  };
  problems.show(problem, { folder, finding, configuration: attachConfiguration(connection.cluster), retry });
}

/** Return a configuration that attaches to a cluster, in the form after VS Code has resolved it. */
function attachConfiguration(cluster: Cluster): Configuration {
  const keys = configurationOf(cluster);
  const resolved = 'hub' in keys ? { [HUB]: keys.hub } : keys;
  return { type: 'raydap', request: 'attach', name: cluster.name, ...resolved };
}

function firstFolder(): vscode.WorkspaceFolder | undefined {
  return vscode.workspace.workspaceFolders?.[0];
}
