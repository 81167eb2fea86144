/** Tests with a real hub: when the user is asked for its token, and how long the token is kept. */

import assert from 'node:assert/strict';

import * as vscode from 'vscode';

import { Hub } from '../hub';
import { look } from './session';
import { answering, type Answer } from './user';

async function withHub(body: (hub: Hub) => Promise<void>): Promise<void> {
  const started = await Hub.start();
  try {
    await body(started);
  } finally {
    await started.end();
  }
}

export const hub = {
  'a token is asked for until it is right, kept, and forgotten on demand': async () => {
    await withHub(async ({ url, token }) => {
      const configuration = { type: 'raydap', request: 'attach', name: 'Hub', hub: url };
      const asked = (answer: string): Answer => ({ asked: 'showInputBox', about: /Token of the hub ws:/, answer });
      const refused: Answer = { asked: 'showErrorMessage', about: /raydap (5002|1011)/, answer: 'Enter the token' };
      const forget: Answer = { asked: 'showQuickPick', about: /Delete the token of/, answer: url };

      await answering([asked('wrong'), refused, asked(token)], async () => look(configuration));
      await answering([], async () => look(configuration));
      await answering([forget], async () => vscode.commands.executeCommand('raydap.forgetToken'));
      const played = await answering([asked(token)], async () => look(configuration));
      assert.ok(!JSON.stringify(played).includes(token));
    });
  },
};
