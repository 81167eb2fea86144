/** Shows in the status bar how many workers a command has acted on. */

import * as vscode from 'vscode';

import { countMessage } from '../text/count-message';

const SHOWN_MS = 8_000;

/** `hidden` workers would have been affected without the filter. */
export function reportCount(verb: string, count: number, hidden = 0): void {
  const text = countMessage(verb, count, hidden);
  if (text !== undefined) {
    vscode.window.setStatusBarMessage(`Ray: ${text}`, SHOWN_MS);
  }
}
