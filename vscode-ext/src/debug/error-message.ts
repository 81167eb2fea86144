/** Shows the error of work for which no caller waits. */

import * as vscode from 'vscode';

import { ACTION_LABELS } from '../text/problems';

/** Without this, a rejection is only a line in the log of the extension host. */
export function showingError(work: PromiseLike<unknown>): void {
  work.then(undefined, (error: unknown) => {
    void showError(error instanceof Error ? error.message : String(error));
  });
}

/** With a button, because VS Code cuts a message without one after its first line. */
export async function showError(text: string): Promise<void> {
  const button = ACTION_LABELS.showLog;
  if ((await vscode.window.showErrorMessage(text, button)) === button) {
    await vscode.commands.executeCommand('raydap.showLog');
  }
}
