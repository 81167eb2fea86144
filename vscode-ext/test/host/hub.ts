/** A real hub: who asks for its token, and for how long it is kept. */

import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import * as vscode from 'vscode';

import { look } from './session';
import { answering, type Answer } from './user';

interface Hub {
  readonly url: string;
  readonly token: string;
}

/** Its connection file lies where the extension's bridge does not look, as if the hub were on another machine. */
async function withHub(body: (hub: Hub) => Promise<void>): Promise<void> {
  const { RAYDAP_TEST_PYTHON: python = '', RAYDAP_TEST_DASHBOARD: dashboard = '' } = process.env;
  const file = join(tmpdir(), 'elsewhere.json');
  const child = spawn(python, ['-m', 'raydap', 'serve', '--dashboard', dashboard, '--connection-file', file]);
  try {
    await body(await listening(child));
  } finally {
    child.kill();
    await once(child, 'exit');
  }
}

async function listening(child: ChildProcess): Promise<Hub> {
  let output = '';
  return new Promise((resolve, reject) => {
    const read = (data: Buffer): void => {
      output += data.toString();
      const [, port, token] = /serving on 127\.0\.0\.1:(\d+)[^]*token: (\S+)/.exec(output) ?? [];
      if (port !== undefined && token !== undefined) {
        resolve({ url: `ws://127.0.0.1:${port}/dap`, token });
      }
    };
    child.stdout?.on('data', read);
    child.stderr?.on('data', read);
    child.once('exit', () => {
      reject(new Error(`the hub ended:\n${output}`));
    });
  });
}

export const hub = {
  'a token is asked for until it is right, kept, and forgotten on demand': async () => {
    await withHub(async ({ url, token }) => {
      const configuration = { type: 'raydap', request: 'attach', name: 'Hub', hub: url };
      const asked = (answer: string): Answer => ({ asked: 'showInputBox', about: /Token of the hub ws:/, answer });
      const refused: Answer = { asked: 'showErrorMessage', about: /raydap (5002|1011)/, answer: 'Enter the token' };
      const forget: Answer = { asked: 'showQuickPick', about: /Forget the token of/, answer: url };

      await answering([asked('wrong'), refused, asked(token)], async () => look(configuration));
      await answering([], async () => look(configuration));
      await answering([forget], async () => vscode.commands.executeCommand('raydap.forgetToken'));
      const played = await answering([asked(token)], async () => look(configuration));
      assert.ok(!JSON.stringify(played).includes(token));
    });
  },
};
