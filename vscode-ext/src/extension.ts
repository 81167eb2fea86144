/**
 * The entry point of the extension. It creates the parts and connects them; the folders beside this file do the work.
 */

import { hostname } from 'node:os';

import * as vscode from 'vscode';

import { AdapterFactory } from './debug/adapter-factory';
import { BreakpointReasons } from './debug/breakpoint-reasons';
import { ConfigurationProvider } from './debug/configuration-provider';
import { DebugTerminal } from './debug/debug-terminal';
import { showingError } from './debug/error-message';
import { pickArgs } from './debug/pick-args';
import { ProblemDialog } from './debug/problem-dialog';
import { chooseInterpreter } from './debug/selected-interpreter';
import { SessionTrackerFactory } from './debug/session-tracker';
import { StoppedLinesTracker } from './debug/stopped-lines-tracker';
import { TestConfigurations } from './debug/test-configurations';
import { LanguageServer } from './language/language-server';
import { registerMcpServer } from './language/mcp-provider';
import { ATTACH, DEBUG_FILE, SUBMIT_FILE, type Configuration } from './model/configuration';
import { SavedClusters } from './model/saved-clusters';
import { TokenStore } from './model/token-store';
import { VersionCheck } from './text/version-check';
import { registerCommands, showingErrors } from './views/commands';
import { rayView } from './views/ray-view';
import { Walkthrough } from './views/walkthrough';

/** Create all parts and register them with VS Code, which calls this when the extension is first needed. */
export function activate(context: vscode.ExtensionContext): void {
  const { version } = context.extension.packageJSON as { readonly version: string };
  const log = vscode.Uri.joinPath(context.logUri, 'raydap.log');
  const tokens = new TokenStore(context.secrets, context.globalState, placeOfWindow());
  const problems = new ProblemDialog(tokens, log, version);
  // VS Code cuts a message without a button after one line.
  const versions = new VersionCheck(version, (text) => void vscode.window.showWarningMessage(text, 'OK'));
  const clusters = new SavedClusters(context.globalState);
  const configurations = new ConfigurationProvider(clusters, tokens, problems);
  const adapters = new AdapterFactory(tokens, log, context.extensionUri);
  const languageServer = new LanguageServer(adapters.cwd);
  const stoppedLines = new StoppedLinesTracker();
  const reasons = new BreakpointReasons();
  const view = rayView(clusters, adapters, problems, versions, stoppedLines, languageServer, context.extensionUri);
  const walkthrough = new Walkthrough(context);
  const terminal = new DebugTerminal(problems, currentFolder);
  const { Initial, Dynamic } = vscode.DebugConfigurationProviderTriggerKind;

  context.subscriptions.push(
    vscode.debug.registerDebugConfigurationProvider('raydap', configurations, Initial),
    // VS Code resolves a configuration with every provider of its type, so only one of the two may resolve.
    vscode.debug.registerDebugConfigurationProvider('raydap', withoutResolving(configurations), Dynamic),
    vscode.debug.registerDebugConfigurationProvider('debugpy', new TestConfigurations()),
    vscode.debug.registerDebugAdapterDescriptorFactory('raydap', adapters),
    vscode.debug.registerDebugAdapterTrackerFactory('raydap', new SessionTrackerFactory(problems, versions)),
    vscode.debug.registerDebugAdapterTrackerFactory('raydap', stoppedLines),
    vscode.debug.registerDebugAdapterTrackerFactory('raydap', reasons),
    vscode.debug.registerDebugAdapterTrackerFactory('raydap', terminal),
    vscode.window.registerTerminalProfileProvider('raydap.debugTerminal', terminal),
    stoppedLines,
    reasons,
    terminal,
    languageServer,
    ...registerCommands(
      showingErrors({
        attach: () => start(ATTACH),
        debugFile: () => start(DEBUG_FILE),
        submitFile: () => start(SUBMIT_FILE),
        chooseInterpreter: () => chooseInterpreter(currentFolder()),
        debugTerminal: () => terminal.open(),
        pickArgs: () => pickArgs(context.workspaceState),
        forgetToken: () => forgetToken(tokens),
        showLog: () => problems.showLog(),
        ...languageServer.commands,
        ...view.commands,
        ...walkthrough.commands,
      }),
    ),
    ...view.subscriptions,
    ...registerMcpServer(version, currentFolder),
  );
  showingError(walkthrough.resume());
}

/** Return a provider for *Run and Debug*, which offers configurations and does not resolve any. */
function withoutResolving(configurations: ConfigurationProvider): vscode.DebugConfigurationProvider {
  return { provideDebugConfigurations: (folder) => configurations.dynamicConfigurations(folder) };
}

function start(configuration: Configuration): Thenable<boolean> {
  return vscode.debug.startDebugging(currentFolder(), { ...configuration });
}

/** Return the workspace folder of the file in the active editor, else the first workspace folder. */
function currentFolder(): vscode.WorkspaceFolder | undefined {
  const file = vscode.window.activeTextEditor?.document.uri;
  return (file && vscode.workspace.getWorkspaceFolder(file)) ?? vscode.workspace.workspaceFolders?.[0];
}

/** Return a text with the machine on which the extension runs, the kind of remote connection, and the open folder. */
function placeOfWindow(): string {
  const folder = vscode.workspace.workspaceFile ?? vscode.workspace.workspaceFolders?.[0]?.uri;
  return [hostname(), vscode.env.remoteName, folder?.fsPath].filter((part) => part !== undefined).join(', ');
}

/** Let the user choose a stored token, and delete it. */
async function forgetToken(tokens: TokenStore): Promise<void> {
  const names = tokens.names();
  if (names.length === 0) {
    void vscode.window.showInformationMessage('No token is stored.');
    return;
  }
  const title = 'Delete the token of';
  const name = await vscode.window.showQuickPick([...names], { title });
  if (name !== undefined) {
    await tokens.forget(name);
  }
}
