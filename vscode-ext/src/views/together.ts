/** Commands of a session that reach many workers at once. */

import * as vscode from 'vscode';

import type { Result } from '../bridge/comparison';
import { Branch } from '../bridge/fleet';
import type { Live } from '../bridge/live';
import { threadsOf } from './actions';
import type { Evaluation } from './evaluation';
import { isNode, type Element, type Lookout } from './lookout';

/** By the names of the commands. */
export function together(
  lookout: Lookout,
  evaluation: Evaluation,
  selection: () => readonly Element[],
): Readonly<Record<string, (...rows: never[]) => unknown>> {
  return {
    continueAll: (row?: unknown) => current(lookout, row)?.request('raydap/continue'),
    continueGroup: () => continueGroup(lookout, selection()),
    stepTogether: () => stepTogether(lookout),
    evaluateAll: () => evaluateAll(lookout, evaluation),
    evaluateAgain: () => evaluation.again(),
  };
}

/** The cluster of the row, if the command is called from the view; else the one that is debugged. */
function current(lookout: Lookout, row: unknown): Live | undefined {
  const found = lookout.all.find((live) => live === row && live.session !== undefined) ?? lookout.current;
  if (found?.session === undefined) {
    void vscode.window.showInformationMessage('No session of raydap runs.');
    return undefined;
  }
  return found;
}

/** The group of the selected row, else of the thread that is looked at in the call stack, else one to choose. */
async function continueGroup(lookout: Lookout, selection: readonly Element[]): Promise<void> {
  const live = current(lookout, undefined);
  if (live === undefined) {
    return;
  }
  const leaves = [...live.fleet.root.leaves()];
  const groups = [...new Set(leaves.filter(({ worker }) => worker.state === 'stopped').map(({ parent }) => parent))];
  const looked = active(lookout, live)?.threadId;
  const leaf = leaves.find(({ worker }) => worker.threads.some(({ threadId }) => threadId === looked));
  const group = selectedGroup(lookout, live, selection) ?? leaf?.parent ?? (await choose(groups));
  if (group !== undefined) {
    await live.request('raydap/continue', { threads: threadsOf([...group.leaves()]) });
  }
}

function selectedGroup(lookout: Lookout, live: Live, [row]: readonly Element[]): Branch | undefined {
  if (row === undefined || !isNode(row) || lookout.liveOf(row) !== live) {
    return undefined;
  }
  return row instanceof Branch ? row : row.parent;
}

async function choose(groups: readonly Branch[]): Promise<Branch | undefined> {
  if (groups.length < 2) {
    return groups[0];
  }
  const items = groups.map((group) => ({
    label: group.name,
    description: `${group.tally.stopped} stopped`,
    detail: group.parent?.name ?? '',
    group,
  }));
  return (await vscode.window.showQuickPick(items, { title: 'Continue Group' }))?.group;
}

async function stepTogether(lookout: Lookout): Promise<void> {
  const live = current(lookout, undefined);
  if (live === undefined) {
    return;
  }
  const item = active(lookout, live);
  if (item === undefined) {
    void vscode.window.showInformationMessage(
      'Select a stopped worker in the call stack: those at its line are stepped.',
    );
    return;
  }
  await live.request('raydap/step', { threadId: item.threadId, command: 'next' });
}

/** What is selected in the call stack, if it is of this cluster. */
function active(lookout: Lookout, live: Live): vscode.DebugThread | vscode.DebugStackFrame | undefined {
  const item = vscode.debug.activeStackItem;
  return item?.session.id === lookout.sessionOf(live)?.id ? item : undefined;
}

async function evaluateAll(lookout: Lookout, evaluation: Evaluation): Promise<void> {
  const live = current(lookout, undefined);
  if (live === undefined) {
    return;
  }
  const expression = await vscode.window.showInputBox({
    title: 'Evaluate in All Stopped Workers',
    prompt: 'A Python expression; each worker evaluates it where it is stopped.',
    value: selectedText() ?? evaluation.expression,
    ignoreFocusOut: true,
  });
  if (expression !== undefined && expression.trim() !== '') {
    await evaluation.show(expression.trim(), async (text) => {
      const { results } = (await live.request('raydap/evaluate', { expression: text })) as { results: Result[] };
      return results;
    });
  }
}

/** One line at most: a selection of more is meant for something else. */
function selectedText(): string | undefined {
  const editor = vscode.window.activeTextEditor;
  const text = editor?.document.getText(editor.selection).trim();
  return text === undefined || text === '' || text.includes('\n') ? undefined : text;
}
