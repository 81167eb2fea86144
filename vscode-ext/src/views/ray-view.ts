/** The parts of the Ray view, connected with each other. */

import * as vscode from 'vscode';

import type { AdapterFactory } from '../debug/adapter-factory';
import { showingError } from '../debug/error-message';
import type { ProblemDialog } from '../debug/problem-dialog';
import { StepRequests } from '../debug/step-requests';
import type { StoppedLinesTracker } from '../debug/stopped-lines-tracker';
import type { LanguageServer } from '../language/language-server';
import { ClusterRegistry } from '../model/cluster-registry';
import type { SavedClusters } from '../model/saved-clusters';
import { NODE_TIMERS } from '../model/timers';
import type { VersionCheck } from '../text/version-check';
import { ChangeEvents } from './change-events';
import { ClusterFilter } from './cluster-filter';
import { ClusterTree } from './cluster-tree';
import { showProblem, startWatcher } from './cluster-watching';
import { CommandTargets } from './command-target';
import { showingErrors, type Commands } from './commands';
import { DebugSessions, rootOf } from './debug-sessions';
import { DoctorTree } from './doctor-tree';
import { EvaluationPanel } from './evaluation-panel';
import { Indicators, warnOfLosses } from './indicators';
import { lensCommands } from './lens-commands';
import { LineDecorations } from './line-decorations';
import { LocalClusters } from './local-clusters';
import { multiWorkerCommands } from './multi-worker-commands';
import { reloadCommands, ReloadOnSave } from './reload-commands';
import { debugCluster, rowCommands } from './row-commands';
import { stackCommands } from './stack-commands';
import { StackDocuments } from './stack-documents';
import { StackPicture } from './stack-picture';
import { StackTree } from './stack-tree';
import { WaitingNotice } from './waiting-notice';
import { WaitsTree } from './waits-tree';
import { WatchPeriod } from './watch-period';
import { whyCommands } from './why-commands';
import { WorkerActions } from './worker-actions';

/** The interval at which a visible view updates the ages in its rows. */
const AGE_INTERVAL_MS = 30_000;

/** The view's commands, and the objects to dispose when the extension ends. */
export interface RayView {
  readonly commands: Commands;
  readonly subscriptions: readonly { dispose(): unknown }[];
}

/** Create the view. It starts no process until it is visible for the first time or a session begins. */
export function rayView(
  clusters: SavedClusters,
  adapters: AdapterFactory,
  problems: ProblemDialog,
  versions: VersionCheck,
  stoppedLines: StoppedLinesTracker,
  languageServer: LanguageServer,
  extension: vscode.Uri,
): RayView {
  const events = new ChangeEvents();
  const registry = new ClusterRegistry(clusters, {
    startWatcher: (cluster, listener) => startWatcher(adapters, versions, cluster, listener),
    changed: (connection, changes) => events.add(connection, changes),
    now: Date.now,
    timers: NODE_TIMERS,
  });
  const local = new LocalClusters(registry, adapters);
  const sessions = new DebugSessions(registry);
  const filter = new ClusterFilter(registry);
  const tree = new ClusterTree(registry, filter);
  const view = vscode.window.createTreeView('raydap.clusters', { treeDataProvider: tree, canSelectMany: true });
  const steps = new StepRequests();
  const targets = new CommandTargets(sessions, view);
  const actions = new WorkerActions(targets, filter);
  const indicators = new Indicators(view, filter);
  const notice = new WaitingNotice(view, filter, (connection) => debugCluster(connection));
  const decorations = new LineDecorations(sessions, stoppedLines, filter);
  const panel = new EvaluationPanel(extension);
  const stacks = new StackDocuments();
  const stackTree = new StackTree(sessions, filter);
  const picture = new StackPicture(extension);
  const waits = new WaitsTree(filter);
  const doctor = new DoctorTree(sessions, adapters);
  const ages = setInterval(() => {
    if (view.visible) {
      tree.updateAges();
    }
  }, AGE_INTERVAL_MS);
  return {
    commands: showingErrors({
      ...rowCommands(sessions, stacks, actions),
      ...multiWorkerCommands(targets, panel, filter, steps),
      ...lensCommands(sessions, panel, filter),
      filterWorkers: () => filter.ask(),
      showAllWorkers: () => filter.set(''),
      ...stackCommands(stackTree, panel, picture),
      ...whyCommands(sessions, waits, doctor),
      ...reloadCommands(sessions),
      showProblem: (id: string) => showProblem(registry.get(id), registry, problems),
    }),
    subscriptions: [
      view,
      tree,
      targets,
      vscode.debug.registerDebugAdapterTrackerFactory('raydap', steps),
      indicators,
      notice,
      decorations,
      panel,
      stacks,
      stackTree,
      picture,
      waits,
      doctor,
      events,
      new ReloadOnSave(sessions),
      sessions,
      filter,
      filter.onDidChange(() => {
        tree.updateAll();
        view.description = filter.text;
        view.message = filter.problem;
        indicators.update(registry.all);
        decorations.update();
        languageServer.countWorkers(filter.shown);
      }),
      new vscode.Disposable(() => {
        registry.close();
        clearInterval(ages);
      }),
      vscode.window.registerFileDecorationProvider(tree),
      local,
      new WatchPeriod(view, [registry, local]),
      events.onDidChange((changed) => {
        tree.update(changed);
        indicators.update(registry.all);
        notice.update(registry.all);
        decorations.update();
        stackTree.changed();
        filter.update();
        const debugging = registry.all.some(({ session }) => session !== undefined);
        void vscode.commands.executeCommand('setContext', 'raydap.debugging', debugging);
      }),
      stoppedLines.onDidMove(({ session, isStop }) => panel.workersMoved(rootOf(session).id, isStop)),
      events.onDidLose((losses) => {
        showingError(warnOfLosses(losses));
      }),
    ],
  };
}
