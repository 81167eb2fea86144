/** The interpreter that the user has chosen, in raydap's setting or in the Python extension. */

import * as vscode from 'vscode';

import type { InterpreterFinding } from '../model/interpreter-finding';
import { findInterpreter } from '../process/interpreter';

const PYTHON_EXTENSION = 'ms-python.python';

/** The part of the Python extension's exported API that is used here (`@vscode/python-extension`). */
interface PythonApi {
  readonly environments: {
    getActiveEnvironmentPath(resource?: vscode.Uri): { readonly path: string };
    resolveEnvironment(
      path: unknown,
    ): Promise<{ readonly executable: { readonly uri: vscode.Uri | undefined } } | undefined>;
  };
}

export async function findSelectedInterpreter(folder: vscode.WorkspaceFolder | undefined): Promise<InterpreterFinding> {
  return findInterpreter({ setting: setting(folder), active: await activeInterpreter(folder) });
}

/** Lets the user choose another interpreter; false if none was chosen. */
export async function chooseInterpreter(folder: vscode.WorkspaceFolder | undefined): Promise<boolean> {
  const current = setting(folder);
  if (current === '' && vscode.extensions.getExtension(PYTHON_EXTENSION) !== undefined) {
    const before = await activeInterpreter(folder);
    await vscode.commands.executeCommand('python.setInterpreter');
    return (await activeInterpreter(folder)) !== before;
  }
  const python = await vscode.window.showInputBox({
    title: 'The Python that runs raydap',
    prompt:
      'Path of an interpreter, 3.10 or newer, in which raydap is installed. It becomes the setting raydap.python.',
    placeHolder: '/path/to/.venv/bin/python',
    value: current,
    ignoreFocusOut: true,
  });
  if (python === undefined) {
    return false;
  }
  await vscode.workspace.getConfiguration('raydap', folder).update('python', python, settingsTarget(folder));
  return true;
}

/** The place of a setting that the user changes by a button: the folder's settings, if there is a folder. */
export function settingsTarget(folder: vscode.WorkspaceFolder | undefined): vscode.ConfigurationTarget {
  return folder === undefined ? vscode.ConfigurationTarget.Global : vscode.ConfigurationTarget.Workspace;
}

function setting(folder: vscode.WorkspaceFolder | undefined): string {
  const python = vscode.workspace.getConfiguration('raydap', folder).get('python', '').trim();
  return folder === undefined ? python : python.replaceAll('${workspaceFolder}', folder.uri.fsPath);
}

/** Undefined without the Python extension, and if that extension knows no interpreter. */
async function activeInterpreter(folder: vscode.WorkspaceFolder | undefined): Promise<string | undefined> {
  const extension = vscode.extensions.getExtension<Partial<PythonApi>>(PYTHON_EXTENSION);
  if (extension === undefined) {
    return undefined;
  }
  const { environments } = await extension.activate();
  if (environments === undefined) {
    return undefined;
  }
  const environment = await environments.resolveEnvironment(environments.getActiveEnvironmentPath(folder?.uri));
  return environment?.executable.uri?.fsPath;
}
