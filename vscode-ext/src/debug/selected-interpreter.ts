/** The interpreter that the user has selected, in the setting raydap.python or in the Python extension. */

import { homedir } from 'node:os';
import { isAbsolute } from 'node:path';

import * as vscode from 'vscode';

import type { InterpreterFinding } from '../model/interpreter-finding';
import { resolvedPath } from '../model/setting-path';
import { findInterpreter } from '../process/interpreter';

const PYTHON_EXTENSION = 'ms-python.python';

/** The part of the Python extension's exported API that is used here (`@vscode/python-extension`). */
interface PythonApi {
  readonly environments: {
    getActiveEnvironmentPath(resource?: vscode.Uri): { readonly path: string };
    resolveEnvironment(
      path: unknown,
    ): Promise<{ readonly executable: { readonly uri: vscode.Uri | undefined } } | undefined>;
    readonly onDidChangeActiveEnvironmentPath: vscode.Event<unknown>;
  };
}

/**
 * Check the interpreter of the setting, else the one that the Python extension has selected, else those on the PATH.
 * Return the result of the check.
 */
export async function findSelectedInterpreter(folder: vscode.WorkspaceFolder | undefined): Promise<InterpreterFinding> {
  const text = setting(folder);
  const resolved = resolvedPath(text, {
    home: homedir(),
    environment: process.env,
    folder: folder?.uri.fsPath,
    folders: new Map(vscode.workspace.workspaceFolders?.map(({ name, uri }) => [name, uri.fsPath])),
  });
  return 'reason' in resolved
    ? { kind: 'broken', python: text, reason: resolved.reason }
    : findInterpreter({ setting: resolved.path, active: await activeInterpreter(folder) });
}

/** Let the user choose another interpreter. Return false if the user chose none. */
export async function chooseInterpreter(folder: vscode.WorkspaceFolder | undefined): Promise<boolean> {
  const current = setting(folder);
  if (current === '' && vscode.extensions.getExtension(PYTHON_EXTENSION) !== undefined) {
    const before = await activeInterpreter(folder);
    await vscode.commands.executeCommand('python.setInterpreter');
    return (await activeInterpreter(folder)) !== before;
  }
  const python = await vscode.window.showInputBox({
    title: 'Python interpreter for raydap',
    prompt:
      'The path of a Python, 3.10 or newer, in which raydap is installed. It is stored in the setting raydap.python.',
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

/**
 * Return where a button stores a changed setting: in the workspace if a folder is open, else in the user's settings.
 */
export function settingsTarget(folder: vscode.WorkspaceFolder | undefined): vscode.ConfigurationTarget {
  return folder === undefined ? vscode.ConfigurationTarget.Global : vscode.ConfigurationTarget.Workspace;
}

function setting(folder: vscode.WorkspaceFolder | undefined): string {
  return vscode.workspace.getConfiguration('raydap', folder).get('python', '').trim();
}

/** Call `listener` when the user selects another interpreter in the Python extension. */
export async function onDidChangeInterpreter(listener: () => void): Promise<vscode.Disposable> {
  const environments = await pythonEnvironments();
  return environments?.onDidChangeActiveEnvironmentPath(listener) ?? new vscode.Disposable(() => undefined);
}

/** Return the Python extension's environments; undefined without that extension. */
async function pythonEnvironments(): Promise<PythonApi['environments'] | undefined> {
  const extension = vscode.extensions.getExtension<Partial<PythonApi>>(PYTHON_EXTENSION);
  return (await extension?.activate())?.environments;
}

/** Return the interpreter that the Python extension has selected; undefined without that extension or a selection. */
async function activeInterpreter(folder: vscode.WorkspaceFolder | undefined): Promise<string | undefined> {
  const environments = await pythonEnvironments();
  if (environments === undefined) {
    return undefined;
  }
  const selected = environments.getActiveEnvironmentPath(folder?.uri);
  const environment = await environments.resolveEnvironment(selected);
  // Without a selection, the path is a plain name. Return a selected path even if it has no environment, so that raydap
  // does not run in a Python that the user has not selected.
  return environment?.executable.uri?.fsPath ?? (isAbsolute(selected.path) ? selected.path : undefined);
}
