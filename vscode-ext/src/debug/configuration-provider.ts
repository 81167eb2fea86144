/**
 * Debug configurations: which ones are offered, how they are completed, and what is checked before a session starts.
 */

import * as vscode from 'vscode';

import {
  hasDebugServer,
  hubOf,
  isEmpty,
  OFFERED,
  withDefaults,
  withHub,
  type Configuration,
} from '../model/configuration';
import { debugConfiguration, type SavedClusters } from '../model/saved-clusters';
import type { TokenStore } from '../model/token-store';
import { problemOfInterpreter } from '../text/problems';
import { showingError } from './error-message';
import type { ProblemDialog } from './problem-dialog';
import { findSelectedInterpreter } from './selected-interpreter';
import { COMMON } from './test-configurations';
import { askHubToken } from './token-prompt';

/** The configuration key that holds the path of the checked interpreter. AdapterFactory reads it. */
export const PYTHON = '__python';

/** The provider that offers, completes and checks configurations of the type raydap. */
export class ConfigurationProvider implements vscode.DebugConfigurationProvider {
  constructor(
    private readonly clusters: Pick<SavedClusters, 'all'>,
    private readonly tokens: TokenStore,
    private readonly problems: ProblemDialog,
  ) {}

  /** Return the configurations that VS Code offers for a new launch.json. */
  provideDebugConfigurations(folder: vscode.WorkspaceFolder | undefined): vscode.DebugConfiguration[] {
    const cwd = folder === undefined ? '${fileDirname}' : '${workspaceFolder}';
    return OFFERED.map(({ configuration }) =>
      configuration.request === 'launch' ? { ...configuration, cwd } : { ...configuration },
    );
  }

  /** Return the configurations that VS Code offers in *Run and Debug*: also those of the saved clusters. */
  dynamicConfigurations(folder: vscode.WorkspaceFolder | undefined): vscode.DebugConfiguration[] {
    return [...this.provideDebugConfigurations(folder), ...this.clusters.all.map(debugConfiguration)];
  }

  /** Complete a configuration with the defaults. VS Code replaces variables such as `${workspaceFolder}` after this. */
  async resolveDebugConfiguration(
    folder: vscode.WorkspaceFolder | undefined,
    given: vscode.DebugConfiguration,
  ): Promise<vscode.DebugConfiguration | undefined> {
    if (hasDebugServer(given)) {
      return given;
    }
    if (given.noDebug === true) {
      runWithoutDebugging(folder, given);
      return undefined;
    }
    const chosen = isEmpty(given) ? await this.chooseConfiguration() : given;
    const dashboard = vscode.workspace.getConfiguration('raydap', folder).get('dashboard', '').trim();
    const defaults = { workspaceFolder: folder?.uri.fsPath, dashboard: dashboard === '' ? undefined : dashboard };
    return chosen && withDefaults(chosen, defaults);
  }

  /**
   * Check a configuration, and add the interpreter to it. Return undefined if a message has been shown: VS Code then
   * cancels the start without a message of its own.
   */
  async resolveDebugConfigurationWithSubstitutedVariables(
    folder: vscode.WorkspaceFolder | undefined,
    substituted: vscode.DebugConfiguration,
  ): Promise<vscode.DebugConfiguration | undefined> {
    if (hasDebugServer(substituted)) {
      return substituted;
    }
    let configuration: Configuration;
    try {
      configuration = withHub(substituted);
    } catch (error) {
      const text = (error as Error).message;
      this.problems.show({ text, actions: ['changeHub'] }, { folder, configuration: substituted });
      return undefined;
    }
    const finding = await findSelectedInterpreter(folder);
    const problem = problemOfInterpreter(finding);
    if (problem !== undefined) {
      this.problems.show(problem, { folder, configuration, finding });
      return undefined;
    }
    const hub = hubOf(configuration);
    if (hub !== undefined && (await this.tokens.get(hub)) === undefined && !(await askHubToken(this.tokens, hub))) {
      return undefined;
    }
    return { ...configuration, [PYTHON]: finding.python };
  }

  /** Let the user choose what to debug without a launch.json. Offer to run a file only if a Python file is edited. */
  private async chooseConfiguration(): Promise<Configuration | undefined> {
    const editing = vscode.window.activeTextEditor?.document.languageId === 'python';
    const saved = this.clusters.all.map((cluster) => ({
      configuration: debugConfiguration(cluster),
      detail: `The saved cluster at ${cluster.address}`,
    }));
    const items = [...OFFERED, ...saved]
      .filter(({ configuration }) => editing || configuration.request === 'attach')
      .map(({ configuration, detail }) => ({ label: configuration.name, detail, configuration }));
    const chosen = await vscode.window.showQuickPick(items, {
      title: 'Debug with Ray',
      placeHolder: 'Select what to debug',
    });
    return chosen && { ...chosen.configuration };
  }
}

/** The extension that runs a program without debugging. */
const PYTHON_DEBUGGER = 'ms-python.debugpy';

/**
 * Let the Python debugger run a program without debugging, which VS Code requests for Ctrl+F5. Without that extension,
 * and for a configuration that raydap alone can start, offer to debug it.
 */
function runWithoutDebugging(folder: vscode.WorkspaceFolder | undefined, given: vscode.DebugConfiguration): void {
  if (
    given.request !== 'launch' ||
    given.submit === true ||
    vscode.extensions.getExtension(PYTHON_DEBUGGER) === undefined
  ) {
    offerDebugging(folder, given);
    return;
  }
  const kept = Object.entries(given).filter(([key]) => COMMON.includes(key));
  const configuration = { type: 'debugpy', request: 'launch', name: given.name, ...Object.fromEntries(kept) };
  showingError(vscode.debug.startDebugging(folder, configuration, { noDebug: true }));
}

/** Offer to debug a program that cannot be run without debugging. */
function offerDebugging(folder: vscode.WorkspaceFolder | undefined, given: vscode.DebugConfiguration): void {
  const button = 'Start Debugging';
  const text =
    'raydap cannot run a program without debugging it. Run the program with Python in a terminal, or debug it.';
  const ask = async (): Promise<void> => {
    if ((await vscode.window.showWarningMessage(text, button)) === button) {
      await vscode.debug.startDebugging(folder, { ...given, noDebug: false });
    }
  };
  showingError(ask());
}
