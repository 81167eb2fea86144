/** Starts raydap for a session. */

import * as vscode from 'vscode';

import { clusterAddressOf, hubOf, type Configuration } from '../model/configuration';
import type { TokenStore } from '../model/token-store';
import { adapterCommand, connectCommand, type Command } from '../process/command';
import { PYTHON } from './configuration-provider';

export class AdapterFactory implements vscode.DebugAdapterDescriptorFactory {
  constructor(
    private readonly tokens: TokenStore,
    private readonly log: vscode.Uri,
    private readonly extension: vscode.Uri,
  ) {}

  /** VS Code does not call this for a configuration with `debugServer`. */
  async createDebugAdapterDescriptor(session: vscode.DebugSession): Promise<vscode.DebugAdapterDescriptor> {
    const { configuration, workspaceFolder } = session;
    const { command, args, env } = await this.command(configuration[PYTHON] as string, configuration, workspaceFolder);
    return new vscode.DebugAdapterExecutable(command, [...args], { env: { ...env }, cwd: this.cwd });
  }

  /** A folder without Python files of the user: `python -m` imports from its working directory first. */
  get cwd(): string {
    return this.extension.fsPath;
  }

  /** The command line for this configuration. It uses only the hub or the cluster of the configuration. */
  async command(
    python: string,
    configuration: Partial<Configuration>,
    folder: vscode.WorkspaceFolder | undefined,
  ): Promise<Command> {
    const hub = hubOf(configuration);
    if (hub !== undefined) {
      return connectCommand(python, hub, await this.tokens.get(hub));
    }
    const verbose = vscode.workspace.getConfiguration('raydap', folder).get('verboseLog', false);
    // VS Code names a folder for logs, and the extension has to make it.
    await vscode.workspace.fs.createDirectory(vscode.Uri.joinPath(this.log, '..'));
    const token = await this.tokens.get(clusterAddressOf(configuration));
    return adapterCommand(python, { file: this.log.fsPath, verbose }, token);
  }
}
