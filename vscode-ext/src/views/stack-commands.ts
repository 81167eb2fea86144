/** The commands of the Stacks view. */

import * as vscode from 'vscode';

import type { StackRow } from '../text/stack-rows';
import { ofKnownRows, type Commands } from './commands';
import type { EvaluationPanel } from './evaluation-panel';
import { askAndEvaluate, stepThreads } from './multi-worker-commands';
import { placeOf } from './row-tree';
import type { StackPicture } from './stack-picture';
import type { StackTree } from './stack-tree';
import { reportCount } from './worker-actions';

export function stackCommands(tree: StackTree, panel: EvaluationPanel, picture: StackPicture): Commands {
  return {
    // A click on a row passes its id, because VS Code loses a row that it redraws.
    goToStack: (id: string) => goTo(tree, tree.get(id)),
    ...ofKnownRows({
      continueStack: async ({ members }: StackRow) => {
        const resumed = await tree.connectionOfRows?.request('raydap/continue', { threads: members });
        reportCount('continued', resumed?.threads.length ?? 0);
      },
      stepStack: ({ members }: StackRow) =>
        tree.connectionOfRows && stepThreads(tree.connectionOfRows, members, tree.select),
      compareStack: ({ members }: StackRow) =>
        tree.connectionOfRows && askAndEvaluate(tree.connectionOfRows, panel, { threads: members }),
    }),
    showStacksOfRunning: () => tree.showRunning(true),
    hideStacksOfRunning: () => tree.showRunning(false),
    stackPicture: () => tree.connection && picture.show(tree.connection),
  };
}

/** Go to the first stopped thread of a row. If its workers run, open the source line of its frame. */
async function goTo({ connectionOfRows: connection }: StackTree, row: StackRow | undefined): Promise<void> {
  const { members: [threadId] = [], frame = null } = row ?? {};
  if (threadId !== undefined) {
    await connection?.request('raydap/focus', { threadId });
  } else if (frame !== null) {
    await vscode.commands.executeCommand('vscode.open', ...placeOf(frame));
  }
}
