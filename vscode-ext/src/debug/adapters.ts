/** Starts the bridge for a session. */

import * as vscode from 'vscode';

import { adapter, connect } from '../bridge/command';
import { hubOf } from '../bridge/configuration';
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
    const python = configuration[PYTHON] as string;
    const hub = hubOf(configuration);
    const verbose = vscode.workspace.getConfiguration('raydap', workspaceFolder).get('verboseLog', false);
    // VS Code names a directory for logs, and leaves it to us to make it.
    await vscode.workspace.fs.createDirectory(vscode.Uri.joinPath(this.log, '..'));
    const { command, args, env } =
      hub === undefined
        ? adapter(python, { file: this.log.fsPath, verbose }, await this.tokens.get(clusterOf(configuration)))
        : connect(python, hub, await this.tokens.get(hub));
    // `python -m` imports from its working directory first, where files of the user may be called like modules of ours.
    return new vscode.DebugAdapterExecutable(command, [...args], { env: { ...env }, cwd: this.extension.fsPath });
  }
}
