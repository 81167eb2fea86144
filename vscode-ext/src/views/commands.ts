/**
 * Commands, by their names without "raydap.". VS Code calls the command of a row with the row and all selected rows.
 */

import * as vscode from 'vscode';

import { showError } from '../debug/error-message';

export type Commands = Readonly<Record<string, (...rows: never[]) => unknown>>;

/** Return commands that show their errors and then return undefined. The message of an error is for the user. */
export function showingErrors(commands: Commands): Commands {
  const entries = Object.entries(commands).map(([name, run]) => {
    const safely = async (...rows: never[]): Promise<unknown> => {
      try {
        return await run(...rows);
      } catch (error) {
        void showError(error instanceof Error ? error.message : String(error));
        return undefined;
      }
    };
    return [name, safely] as const;
  });
  return Object.fromEntries(entries);
}

/**
 * Return commands that ask the user to try again if VS Code passes no row. VS Code forgets a row while it redraws a row
 * above it, and then calls the command without the row (`_addChildrenToClear` in its extHostTreeViews.ts). The
 * extension cannot find out which row it was.
 */
export function ofKnownRows(commands: Commands): Commands {
  const entries = Object.entries(commands).map(([name, run]) => {
    const ifKnown = (...rows: never[]): unknown => {
      if ((rows as readonly unknown[])[0] !== undefined) {
        return run(...rows);
      }
      lostRow();
      return undefined;
    };
    return [name, ifKnown] as const;
  });
  return Object.fromEntries(entries);
}

/** Show a message that VS Code has called a command without its row. */
export function lostRow(): void {
  void vscode.window.showInformationMessage('VS Code was redrawing the row, so the command did nothing. Try again.');
}

export function registerCommands(commands: Commands): vscode.Disposable[] {
  return Object.entries(commands).map(([name, run]) => vscode.commands.registerCommand(`raydap.${name}`, run));
}
