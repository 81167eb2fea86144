/** The command that starts raydap for a debug session. */

import * as vscode from 'vscode';

import { clusterAddressOf, hubOf, type Configuration } from '../model/configuration';
import type { TokenStore } from '../model/token-store';
import { adapterCommand, connectCommand, doctorCommand, type Command } from '../process/command';
import { PYTHON } from './configuration-provider';
import { askClusterToken } from './token-prompt';

/** The factory that VS Code uses to start the adapter of a session. */
export class AdapterFactory implements vscode.DebugAdapterDescriptorFactory {
  constructor(
    private readonly tokens: TokenStore,
    /** The log file of the adapters. */
    private readonly log: vscode.Uri,
    /** The folder of the extension. */
    private readonly extension: vscode.Uri,
  ) {}

  /** Return the command that VS Code runs. VS Code does not call this for a configuration with `debugServer`. */
  async createDebugAdapterDescriptor(session: vscode.DebugSession): Promise<vscode.DebugAdapterDescriptor> {
    const { configuration, workspaceFolder } = session;
    const { command, args, env } = await this.command(configuration[PYTHON] as string, configuration, workspaceFolder);
    return new vscode.DebugAdapterExecutable(command, [...args], { env: { ...env }, cwd: this.cwd });
  }

  /** The working directory of raydap. It has no Python files of the user, which `python -m` would import first. */
  get cwd(): string {
    return this.extension.fsPath;
  }

  /** Return the command for a configuration. Its hub or cluster comes from the configuration, not from the settings. */
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
    // VS Code only gives the path of the log folder; the extension must create it.
    await vscode.workspace.fs.createDirectory(vscode.Uri.joinPath(this.log, '..'));
    const token = await this.tokens.get(clusterAddressOf(configuration));
    return adapterCommand(python, { file: this.log.fsPath, verbose }, token);
  }

  /** Return the command that checks the cluster at this address, empty for the one that raydap finds. */
  async doctor(python: string, address: string, breakpoints: readonly string[]): Promise<Command> {
    return doctorCommand(python, address, breakpoints, await this.tokens.get(address || 'auto'));
  }

  /** Ask the user for the token of the cluster at this address. */
  askToken(address: string): Promise<boolean> {
    return askClusterToken(this.tokens, address || 'auto');
  }
}
