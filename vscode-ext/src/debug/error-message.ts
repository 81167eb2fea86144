/** Error messages for work that no caller awaits. */

import * as vscode from 'vscode';

import { ACTION_LABELS } from '../text/problems';

/** Show an error message if `work` rejects. Without this, a rejection would only be logged by the extension host. */
export function showingError(work: PromiseLike<unknown>): void {
  work.then(undefined, (error: unknown) => {
    void showError(error instanceof Error ? error.message : String(error));
  });
}

/** Show an error message with the button *Show log*. VS Code cuts a message without a button after its first line. */
export async function showError(text: string): Promise<void> {
  const button = ACTION_LABELS.showLog;
  if ((await vscode.window.showErrorMessage(text, button)) === button) {
    await vscode.commands.executeCommand('raydap.showLog');
  }
}
