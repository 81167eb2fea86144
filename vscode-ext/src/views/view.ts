/** Composes the Ray view. */

import * as vscode from 'vscode';

import { Clusters } from '../bridge/clusters';
import type { Live } from '../bridge/live';
import type { Adapters } from '../debug/adapters';
import type { Remedies } from '../debug/remedies';
import { actions } from './actions';
import { Evaluation } from './evaluation';
import { Indicators, warnOf } from './indicators';
import { Lookout } from './lookout';
import { together } from './together';
import { Tree } from './tree';
import { repair, watch } from './watching';

/** Times that a state has lasted are told anew so often while the view is seen. */
const AGES_MS = 30_000;

export interface RayView {
  /** What to register as commands, by name. */
  readonly commands: Readonly<Record<string, (...rows: never[]) => unknown>>;
  readonly subscriptions: readonly { dispose(): unknown }[];
}

/** Nothing is started before the view is seen for the first time, or a session begins. */
export function rayView(memento: vscode.Memento, adapters: Adapters, remedies: Remedies): RayView {
  const lookout = new Lookout(new Clusters(memento), (cluster, listener) => watch(adapters, cluster, listener));
  const tree = new Tree(lookout);
  const view = vscode.window.createTreeView('raydap.clusters', { treeDataProvider: tree, canSelectMany: true });
  const indicators = new Indicators(view);
  const evaluation = new Evaluation();
  const ages = setInterval(() => {
    if (view.visible) {
      tree.updateAges();
    }
  }, AGES_MS);
  const look = (): void => {
    if (view.visible) {
      lookout.look();
    }
  };
  look();
  return {
    commands: told({
      ...actions(lookout),
      ...together(lookout, evaluation, () => view.selection),
      repair: (live: Live) => repair(live, lookout, remedies),
    }),
    subscriptions: [
      view,
      indicators,
      evaluation,
      lookout,
      new vscode.Disposable(() => {
        clearInterval(ages);
      }),
      vscode.window.registerFileDecorationProvider(tree),
      view.onDidChangeVisibility(look),
      // What kept a cluster from being watched may be repaired by it.
      vscode.workspace.onDidChangeConfiguration((change) => {
        if (change.affectsConfiguration('raydap')) {
          look();
        }
      }),
      lookout.onDidChange((differing) => {
        tree.update(differing);
        indicators.update(lookout.all);
        const debugging = lookout.all.some(({ session }) => session !== undefined);
        void vscode.commands.executeCommand('setContext', 'raydap.debugging', debugging);
      }),
      lookout.onDidLose((lost) => {
        void warnOf(lost);
      }),
    ],
  };
}

/** What fails is one sentence of the bridge's. */
function told(
  commands: Readonly<Record<string, (...rows: never[]) => unknown>>,
): Readonly<Record<string, (...rows: never[]) => unknown>> {
  const entries = Object.entries(commands).map(([name, run]) => {
    const safely = async (...rows: never[]): Promise<void> => {
      try {
        await run(...rows);
      } catch (error) {
        void vscode.window.showErrorMessage((error as Error).message);
      }
    };
    return [name, safely] as const;
  });
  return Object.fromEntries(entries);
}
