/** Commands, by their names without "raydap.". VS Code calls the command of a row with the row and all selected rows. */

import * as vscode from 'vscode';

import { showError } from '../debug/error-message';

export type Commands = Readonly<Record<string, (...rows: never[]) => unknown>>;

/** Shows the error of a command: its message is a sentence for the user. */
export function showingErrors(commands: Commands): Commands {
  const entries = Object.entries(commands).map(([name, run]) => {
    const safely = async (...rows: never[]): Promise<void> => {
      try {
        await run(...rows);
      } catch (error) {
        void showError(error instanceof Error ? error.message : String(error));
      }
    };
    return [name, safely] as const;
  });
  return Object.fromEntries(entries);
}

/**
 * VS Code forgets a row while it redraws a row above it, and then calls the row's command without it (`_addChildrenToClear`
 * in its extHostTreeViews.ts). Which row it was cannot be found out, so the user is asked to try again.
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

/** Reports that VS Code has called a command without its row. */
export function lostRow(): void {
  void vscode.window.showInformationMessage('The row was being redrawn, so nothing was done. Please try again.');
}

export function registerCommands(commands: Commands): vscode.Disposable[] {
  return Object.entries(commands).map(([name, run]) => vscode.commands.registerCommand(`raydap.${name}`, run));
}
