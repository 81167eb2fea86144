/** Debug sessions of the extension, and the messages that they receive. */

import assert from 'node:assert/strict';

import * as vscode from 'vscode';

/** The fields of the bridge's messages that are read here (DAP: Event, Response). */
interface Message {
  readonly type: string;
  readonly event?: string;
  readonly command?: string;
  readonly success?: boolean;
  readonly body?: { readonly output?: string; readonly exitCode?: number; readonly threadId?: number };
}

/** The record of a session from its start to its end. */
export interface Played {
  readonly configuration: vscode.DebugConfiguration;
  readonly output: string;
  readonly exitCode: number | undefined;
  /** The number of `stopped` events. */
  readonly stops: number;
}

export function folder(): vscode.WorkspaceFolder {
  const found = vscode.workspace.workspaceFolders?.[0];
  assert.ok(found !== undefined);
  return found;
}

/** Run a session, and continue each stop until the program has ended. */
export async function run(configuration: vscode.DebugConfiguration): Promise<Played> {
  return play(configuration, () => undefined);
}

/** Run a session, and end it once it is attached to the cluster. */
export async function look(configuration: vscode.DebugConfiguration): Promise<Played> {
  return play(configuration, (session) => void vscode.debug.stopDebugging(session));
}

async function play(
  configuration: vscode.DebugConfiguration,
  whenAttached: (session: vscode.DebugSession) => void,
): Promise<Played> {
  const subscriptions: vscode.Disposable[] = [];
  const seen: Message[] = [];
  const begun: vscode.DebugSession[] = [];
  const ended = new Promise<void>((resolve) => {
    // A session that could not attach ends, too. Wait for the end of the last one.
    const finish = vscode.debug.onDidTerminateDebugSession((session) => {
      if (attached && session === begun.at(-1)) {
        resolve();
      }
    });
    subscriptions.push(finish);
  });
  let attached = false;
  const follow = (session: vscode.DebugSession, message: Message): void => {
    seen.push(message);
    if (message.event === 'stopped') {
      void session.customRequest('continue', { threadId: message.body?.threadId });
    }
    if (message.command === session.configuration.request && message.success === true) {
      attached = true;
      whenAttached(session);
    }
  };
  subscriptions.push(
    vscode.debug.registerDebugAdapterTrackerFactory('raydap', {
      createDebugAdapterTracker: (session) => {
        begun.push(session);
        return {
          onDidSendMessage: (message: Message) => {
            follow(session, message);
          },
        };
      },
    }),
  );
  try {
    await vscode.debug.startDebugging(folder(), configuration);
    await ended;
  } finally {
    vscode.Disposable.from(...subscriptions).dispose();
  }
  const session = begun.at(-1);
  assert.ok(session !== undefined);
  const events = (name: string): Message[] => seen.filter(({ event }) => event === name);
  return {
    configuration: session.configuration,
    output: events('output')
      .map(({ body }) => body?.output ?? '')
      .join(''),
    exitCode: events('exited').at(-1)?.body?.exitCode,
    stops: events('stopped').length,
  };
}
