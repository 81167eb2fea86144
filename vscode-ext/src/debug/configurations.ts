/** Offers debug configurations, fills them in, and starts no session that cannot work. */

import * as vscode from 'vscode';

import { complete, hubOf, isEmpty, isServed, OFFERED, withHub, type Configuration } from '../bridge/configuration';
import { ofInterpreter } from '../bridge/problems';
import type { Tokens } from '../bridge/tokens';
import { findInterpreter } from './python';
import { askHubToken, type Remedies } from './remedies';

/** The key under which a checked interpreter travels to the adapter's factory. */
export const PYTHON = '__python';

export class Configurations implements vscode.DebugConfigurationProvider {
  constructor(
    private readonly tokens: Tokens,
    private readonly remedies: Remedies,
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
    if (isServed(given)) {
      return given;
    }
    const chosen = isEmpty(given) ? await pick() : given;
    const dashboard = vscode.workspace.getConfiguration('raydap', folder).get('dashboard', '').trim();
    const place = { workspaceFolder: folder?.uri.fsPath, dashboard: dashboard === '' ? undefined : dashboard };
    return chosen && complete(chosen, place);
  }

  /** Returning undefined ends the start without a message of VS Code's own: the user has got ours. */
  async resolveDebugConfigurationWithSubstitutedVariables(
    folder: vscode.WorkspaceFolder | undefined,
    substituted: vscode.DebugConfiguration,
  ): Promise<vscode.DebugConfiguration | undefined> {
    if (isServed(substituted)) {
      return substituted;
    }
    let configuration: Configuration;
    try {
      configuration = withHub(substituted);
    } catch (error) {
      const text = (error as Error).message;
      this.remedies.show({ text, steps: ['changeHub'] }, { folder, configuration: substituted });
      return undefined;
    }
    const finding = await findInterpreter(folder);
    const problem = ofInterpreter(finding);
    if (problem !== undefined) {
      this.remedies.show(problem, { folder, configuration, python: finding.python });
      return undefined;
    }
    const hub = hubOf(configuration);
    if (hub !== undefined && (await this.tokens.get(hub)) === undefined && !(await askHubToken(this.tokens, hub))) {
      return undefined;
    }
    return { ...configuration, [PYTHON]: finding.python };
  }
}

/** What F5 asks without a launch.json; a file can be run only if one is open. */
async function pick(): Promise<Configuration | undefined> {
  const editing = vscode.window.activeTextEditor?.document.languageId === 'python';
  const items = OFFERED.filter(({ configuration }) => editing || configuration.request === 'attach').map(
    ({ configuration, detail }) => ({ label: configuration.name, detail, configuration }),
  );
  const chosen = await vscode.window.showQuickPick(items, { title: 'Debug with Ray', placeHolder: 'What to debug' });
  return chosen && { ...chosen.configuration };
}
