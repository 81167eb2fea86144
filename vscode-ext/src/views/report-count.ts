/** The number of workers that a command has acted on, in the status bar. */

import * as vscode from 'vscode';

import { countMessage } from '../text/count-message';

const SHOWN_MS = 8_000;

/** Show a count. `hidden` is the number of workers that the command has left out because the filter hides them. */
export function reportCount(verb: string, count: number, hidden = 0): void {
  const text = countMessage(verb, count, hidden);
  if (text !== undefined) {
    vscode.window.setStatusBarMessage(`Ray: ${text}`, SHOWN_MS);
  }
}
