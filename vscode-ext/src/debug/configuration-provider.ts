/** Offers debug configurations, fills them in, and starts no session that cannot work. */

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
import type { TokenStore } from '../model/token-store';
import { problemOfInterpreter } from '../text/problems';
import { showingError } from './error-message';
import type { ProblemDialog } from './problem-dialog';
import { findSelectedInterpreter } from './selected-interpreter';
import { askHubToken } from './token-prompt';

/** The key with the interpreter that was checked; the adapter factory reads it. */
export const PYTHON = '__python';

export class ConfigurationProvider implements vscode.DebugConfigurationProvider {
  constructor(
    private readonly tokens: TokenStore,
    private readonly problems: ProblemDialog,
  ) {}

  provideDebugConfigurations(folder: vscode.WorkspaceFolder | undefined): vscode.DebugConfiguration[] {
    const cwd = folder === undefined ? '${fileDirname}' : '${workspaceFolder}';
    return OFFERED.map(({ configuration }) =>
      configuration.request === 'launch' ? { ...configuration, cwd } : { ...configuration },
    );
  }

  async resolveDebugConfiguration(
    folder: vscode.WorkspaceFolder | undefined,
    given: vscode.DebugConfiguration,
  ): Promise<vscode.DebugConfiguration | undefined> {
    if (hasDebugServer(given)) {
      return given;
    }
    if (given.noDebug === true) {
      offerDebugging(folder, given);
      return undefined;
    }
    const chosen = isEmpty(given) ? await chooseConfiguration() : given;
    const dashboard = vscode.workspace.getConfiguration('raydap', folder).get('dashboard', '').trim();
    const defaults = { workspaceFolder: folder?.uri.fsPath, dashboard: dashboard === '' ? undefined : dashboard };
    return chosen && withDefaults(chosen, defaults);
  }

  /** Returns undefined after a message of ours: VS Code then ends the start without a message of its own. */
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
      this.problems.show(problem, { folder, configuration, python: finding.python });
      return undefined;
    }
    const hub = hubOf(configuration);
    if (hub !== undefined && (await this.tokens.get(hub)) === undefined && !(await askHubToken(this.tokens, hub))) {
      return undefined;
    }
    return { ...configuration, [PYTHON]: finding.python };
  }
}

/** Refuses a run without debugging. VS Code sends it for Ctrl+F5. */
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

/** Asks the user after F5 without a launch.json. Offers to run a file only if one is open. */
async function chooseConfiguration(): Promise<Configuration | undefined> {
  const editing = vscode.window.activeTextEditor?.document.languageId === 'python';
  const items = OFFERED.filter(({ configuration }) => editing || configuration.request === 'attach').map(
    ({ configuration, detail }) => ({ label: configuration.name, detail, configuration }),
  );
  const chosen = await vscode.window.showQuickPick(items, { title: 'Debug with Ray', placeHolder: 'What to debug' });
  return chosen && { ...chosen.configuration };
}
