/** New code for the workers without a restart: *Reload Code of This File*, and each save if the user wants that. */

import * as vscode from 'vscode';

import { showingError } from '../debug/error-message';
import type { AnswerTo } from '../model/worker-source';
import type { Commands } from './commands';
import type { DebugSessions } from './debug-sessions';

/** How long the status bar shows the result. */
const SHOWN_MS = 10_000;

/** Sends the text of saved Python files to all sessions, if the setting `raydap.reloadOnSave` is on. */
export class ReloadOnSave implements vscode.Disposable {
  private readonly subscription: vscode.Disposable;

  constructor(sessions: DebugSessions) {
    this.subscription = vscode.workspace.onDidSaveTextDocument((document) => {
      if (isWanted(document) && reloadsOnSave(document) && sessions.roots.length > 0) {
        showingError(reload(sessions, document));
      }
    });
  }

  dispose(): void {
    this.subscription.dispose();
  }
}

export function reloadCommands(sessions: DebugSessions): Commands {
  return {
    reloadCode: async () => {
      const document = vscode.window.activeTextEditor?.document;
      if (document === undefined || !isWanted(document)) {
        void vscode.window.showInformationMessage('Open the Python file whose code the workers are to run.');
      } else if (sessions.roots.length === 0) {
        void vscode.window.showInformationMessage('There is no debug session whose workers could run the new code.');
      } else if (!document.isDirty || ((await document.save()) && !reloadsOnSave(document))) {
        await reload(sessions, document);
      }
    },
  };
}

function isWanted({ languageId, uri }: vscode.TextDocument): boolean {
  return languageId === 'python' && uri.scheme === 'file';
}

function reloadsOnSave({ uri }: vscode.TextDocument): boolean {
  return vscode.workspace.getConfiguration('raydap', uri).get<boolean>('reloadOnSave', false);
}

async function reload(sessions: DebugSessions, document: vscode.TextDocument): Promise<void> {
  const args = { path: document.uri.fsPath, text: document.getText() };
  for (const session of sessions.roots) {
    const { text } = (await session.customRequest('raydap/reload', args)) as AnswerTo<'raydap/reload'>;
    const [summary = '', ...details] = text.split('\n');
    vscode.window.setStatusBarMessage(summary, SHOWN_MS);
    // raydap has printed the summary in the debug console.
    details.forEach((line) => {
      vscode.debug.activeDebugConsole.appendLine(line);
    });
  }
}
