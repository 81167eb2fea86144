/** Asks the user for tokens. */

import * as vscode from 'vscode';

import type { TokenStore } from '../model/token-store';

/** False if the user has dismissed the question. An empty answer is stored, too: it means that there is no token. */
export async function askHubToken(tokens: TokenStore, hub: string): Promise<boolean> {
  const prompt = 'Leave the token empty for a hub of your own on this machine, or for a hub without a token.';
  return ask(tokens, hub, { title: `Token of the hub ${hub}`, prompt });
}

/** `cluster` is an address; returns as askHubToken does. */
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
