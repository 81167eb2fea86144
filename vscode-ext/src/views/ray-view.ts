/** Composes the Ray view. */

import * as vscode from 'vscode';

import type { AdapterFactory } from '../debug/adapter-factory';
import type { ProblemDialog } from '../debug/problem-dialog';
import type { StoppedLinesTracker } from '../debug/stopped-lines-tracker';
import type { ClusterConnection } from '../model/cluster-connection';
import { ClusterRegistry } from '../model/cluster-registry';
import { SavedClusters } from '../model/saved-clusters';
import { NODE_TIMERS } from '../model/timers';
import type { VersionCheck } from '../text/version-check';
import { ChangeEvents } from './change-events';
import { ClusterTree } from './cluster-tree';
import { showProblem, startWatcher } from './cluster-watching';
import { showingErrors, type Commands } from './commands';
import { DebugSessions } from './debug-sessions';
import { EvaluationPanel } from './evaluation-panel';
import { Indicators, warnOfLosses } from './indicators';
import { LineDecorations } from './line-decorations';
import { multiWorkerCommands } from './multi-worker-commands';
import { rowCommands } from './row-commands';
import { StackDocuments } from './stack-documents';

/** The interval at which a visible view renews the ages in its rows. */
const AGE_INTERVAL_MS = 30_000;

export interface RayView {
  readonly commands: Commands;
  readonly subscriptions: readonly { dispose(): unknown }[];
}

/** Starts no process before the view is visible for the first time, or a session begins. */
export function rayView(
  memento: vscode.Memento,
  adapters: AdapterFactory,
  problems: ProblemDialog,
  versions: VersionCheck,
  stoppedLines: StoppedLinesTracker,
): RayView {
  const events = new ChangeEvents();
  const registry = new ClusterRegistry(new SavedClusters(memento), {
    startWatcher: (cluster, listener) => startWatcher(adapters, versions, cluster, listener),
    changed: (connection, changes) => events.add(connection, changes),
    now: Date.now,
    timers: NODE_TIMERS,
  });
  const sessions = new DebugSessions(registry);
  const tree = new ClusterTree(registry);
  const view = vscode.window.createTreeView('raydap.clusters', { treeDataProvider: tree, canSelectMany: true });
  const indicators = new Indicators(view);
  const decorations = new LineDecorations(sessions, stoppedLines);
  const panel = new EvaluationPanel();
  const stacks = new StackDocuments();
  const ages = setInterval(() => {
    if (view.visible) {
      tree.updateAges();
    }
  }, AGE_INTERVAL_MS);
  const watchIfVisible = (): void => {
    if (view.visible) {
      registry.watch();
    }
  };
  watchIfVisible();
  return {
    commands: showingErrors({
      ...rowCommands(registry, sessions, stacks),
      ...multiWorkerCommands(sessions, panel, () => view.selection),
      showProblem: (connection: ClusterConnection) => showProblem(connection, registry, problems),
    }),
    subscriptions: [
      view,
      indicators,
      decorations,
      panel,
      stacks,
      events,
      sessions,
      new vscode.Disposable(() => {
        registry.close();
        clearInterval(ages);
      }),
      vscode.window.registerFileDecorationProvider(tree),
      view.onDidChangeVisibility(watchIfVisible),
      // Try again: the changed setting may let a cluster be watched that could not be watched before.
      vscode.workspace.onDidChangeConfiguration((change) => {
        if (change.affectsConfiguration('raydap')) {
          watchIfVisible();
        }
      }),
      events.onDidChange((changed) => {
        tree.update(changed);
        indicators.update(registry.all);
        decorations.update();
        const debugging = registry.all.some(({ session }) => session !== undefined);
        void vscode.commands.executeCommand('setContext', 'raydap.debugging', debugging);
      }),
      events.onDidLose((losses) => {
        void warnOfLosses(losses);
      }),
    ],
  };
}
