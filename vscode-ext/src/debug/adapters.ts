/** Starts the bridge for a session. */

import * as vscode from 'vscode';

import { adapter, connect, type Command } from '../bridge/command';
import { hubOf, type Configuration } from '../bridge/configuration';
import type { Tokens } from '../bridge/tokens';
import { PYTHON } from './configurations';
import { clusterOf } from './remedies';

export class Adapters implements vscode.DebugAdapterDescriptorFactory {
  constructor(
    private readonly tokens: Tokens,
    private readonly log: vscode.Uri,
    private readonly extension: vscode.Uri,
  ) {}

  /** Not called for a configuration with `debugServer`. */
  async createDebugAdapterDescriptor(session: vscode.DebugSession): Promise<vscode.DebugAdapterDescriptor> {
    const { configuration, workspaceFolder } = session;
    const { command, args, env } = await this.command(configuration[PYTHON] as string, configuration, workspaceFolder);
    return new vscode.DebugAdapterExecutable(command, [...args], { env: { ...env }, cwd: this.cwd });
  }

  /** `python -m` imports from its working directory first, where files of the user may be called like ours. */
  get cwd(): string {
    return this.extension.fsPath;
  }

  /** A bridge for this configuration, of which only the hub or the cluster is looked at. */
  async command(
    python: string,
    configuration: Partial<Configuration>,
    folder: vscode.WorkspaceFolder | undefined,
  ): Promise<Command> {
    const hub = hubOf(configuration);
    if (hub !== undefined) {
      return connect(python, hub, await this.tokens.get(hub));
    }
    const verbose = vscode.workspace.getConfiguration('raydap', folder).get('verboseLog', false);
    // VS Code names a directory for logs, and leaves it to us to make it.
    await vscode.workspace.fs.createDirectory(vscode.Uri.joinPath(this.log, '..'));
    return adapter(python, { file: this.log.fsPath, verbose }, await this.tokens.get(clusterOf(configuration)));
  }
}
