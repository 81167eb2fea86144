/** Composes the extension; what it does is in the rooms beside. */

import * as vscode from 'vscode';

import { ATTACH, DEBUG_FILE, SUBMIT_FILE, type Configuration } from './bridge/configuration';
import { Tokens } from './bridge/tokens';
import { Adapters } from './debug/adapters';
import { Configurations } from './debug/configurations';
import { Failures } from './debug/failures';
import { chooseInterpreter } from './debug/python';
import { Remedies } from './debug/remedies';
import { rayView } from './views/view';
import { Walkthrough } from './walkthrough';

export function activate(context: vscode.ExtensionContext): void {
  const log = vscode.Uri.joinPath(context.logUri, 'raydap.log');
  const tokens = new Tokens(context.secrets, context.globalState);
  const remedies = new Remedies(tokens, log);
  const configurations = new Configurations(tokens, remedies);
  const adapters = new Adapters(tokens, log, context.extensionUri);
  const view = rayView(context.globalState, adapters, remedies);
  const walkthrough = new Walkthrough(context);
  const { Initial, Dynamic } = vscode.DebugConfigurationProviderTriggerKind;

  context.subscriptions.push(
    vscode.debug.registerDebugConfigurationProvider('raydap', configurations, Initial),
    // VS Code resolves a configuration with every provider of its type, so only one of the two does that.
    vscode.debug.registerDebugConfigurationProvider('raydap', offering(configurations), Dynamic),
    vscode.debug.registerDebugAdapterDescriptorFactory('raydap', adapters),
    vscode.debug.registerDebugAdapterTrackerFactory('raydap', new Failures(remedies)),
    ...commands({
      attach: () => start(ATTACH),
      debugFile: () => start(DEBUG_FILE),
      submitFile: () => start(SUBMIT_FILE),
      chooseInterpreter: () => chooseInterpreter(currentFolder()),
      forgetToken: () => forgetToken(tokens),
      showLog: () => remedies.showLog(),
      ...view.commands,
      ...walkthrough.commands,
    }),
    ...view.subscriptions,
  );
  void walkthrough.resume();
}

function offering(configurations: Configurations): vscode.DebugConfigurationProvider {
  return { provideDebugConfigurations: (folder) => configurations.provideDebugConfigurations(folder) };
}

function commands(table: Readonly<Record<string, (...rows: never[]) => unknown>>): vscode.Disposable[] {
  return Object.entries(table).map(([name, run]) => vscode.commands.registerCommand(`raydap.${name}`, run));
}

function start(configuration: Configuration): Thenable<boolean> {
  return vscode.debug.startDebugging(currentFolder(), { ...configuration });
}

/** The folder of the file being edited, else the first one. */
function currentFolder(): vscode.WorkspaceFolder | undefined {
  const file = vscode.window.activeTextEditor?.document.uri;
  return (file && vscode.workspace.getWorkspaceFolder(file)) ?? vscode.workspace.workspaceFolders?.[0];
}

async function forgetToken(tokens: Tokens): Promise<void> {
  const addresses = tokens.addresses();
  if (addresses.length === 0) {
    void vscode.window.showInformationMessage('raydap keeps no token.');
    return;
  }
  const title = 'Forget the token of';
  const address = await vscode.window.showQuickPick([...addresses], { title });
  if (address !== undefined) {
    await tokens.forget(address);
  }
}
