/** The input boxes in which the user enters tokens. */

import * as vscode from 'vscode';

import type { TokenStore } from '../model/token-store';

/**
 * Ask the user for the token of a hub, and store it. Return false if the user dismissed the input box. An empty token
 * is stored, too: it means that the hub has none.
 */
export async function askHubToken(tokens: TokenStore, hub: string): Promise<boolean> {
  const prompt = 'Leave the box empty if the hub is your own and runs on this machine, or if it has no token.';
  return ask(tokens, hub, { title: `Token of the hub ${hub}`, prompt });
}

/** Ask for the token of the Ray cluster at the address `cluster`, and store it. Return false as askHubToken does. */
export async function askClusterToken(tokens: TokenStore, cluster: string): Promise<boolean> {
  return ask(tokens, cluster, { title: 'Token of the Ray cluster', prompt: 'VS Code keeps it in its secret storage.' });
}

async function ask(tokens: TokenStore, address: string, texts: { title: string; prompt: string }): Promise<boolean> {
  const token = await vscode.window.showInputBox({ ...texts, password: true, ignoreFocusOut: true });
  if (token === undefined) {
    return false;
  }
  await tokens.store(address, token.trim());
  return true;
}
