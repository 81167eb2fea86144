/** The commands of the rows of the Ray view. */

import * as vscode from 'vscode';

import { ClusterConnection } from '../model/cluster-connection';
import type { ClusterRegistry } from '../model/cluster-registry';
import { addressError, debugConfiguration } from '../model/saved-clusters';
import type { WorkerNode } from '../model/worker-tree';
import type { WorkerEntry } from '../protocol/messages';
import { ofKnownRows, type Commands } from './commands';
import type { DebugSessions } from './debug-sessions';
import type { StackDocuments } from './stack-documents';
import type { ProblemElement } from './tree-elements';
import {
  forEachCluster,
  isStopped,
  threadIdsOf,
  type Action,
  type ActedOn,
  type WorkerActions,
} from './worker-actions';

export function rowCommands(sessions: DebugSessions, stacks: StackDocuments, actions: WorkerActions): Commands {
  const { registry } = sessions;
  const entries = Object.entries(actionsOf(sessions, stacks)).map(
    ([name, action]) => [name, (...args: unknown[]) => actions.run(action, args)] as const,
  );
  return {
    ...Object.fromEntries(entries),
    addCluster: () => addCluster(registry),
    ...ofKnownRows({
      removeCluster: (connection: ClusterConnection) => registry.remove(connection),
      saveCluster: (connection: ClusterConnection) => registry.add(connection.cluster.address),
      hideCluster: (connection: ClusterConnection) => registry.hide(connection),
      renameCluster: (connection: ClusterConnection) => renameCluster(registry, connection),
      reconnectCluster: (row: ClusterConnection | ProblemElement) => {
        (row instanceof ClusterConnection ? row : row.connection).reconnect();
      },
      debugCluster: (connection: ClusterConnection) => debugCluster(connection),
    }),
  };
}

/** Return the actions on workers, by the names of their commands. */
function actionsOf(sessions: DebugSessions, stacks: StackDocuments): Readonly<Record<string, Action>> {
  return {
    // The row of a group stands for its paused workers. A running worker is attached only if its own row is chosen.
    attachWorkers: {
      verb: 'Attach to',
      done: 'being attached',
      needsSession: false,
      isWanted: ({ worker }, isOwnRow) => worker.state === 'paused' || (isOwnRow && isAttachable(worker)),
      act: forEachCluster((part) => requestInSession(part, 'raydap/attach')),
    },
    pauseWorkers: {
      verb: 'Pause',
      done: 'asked to pause',
      needsSession: false,
      isWanted: ({ worker }, isOwnRow) => isUnpaused(worker) || (isOwnRow && isAttachable(worker)),
      act: forEachCluster((part) => requestInSession(part, 'raydap/pause')),
    },
    detachWorkers: {
      verb: 'Detach',
      done: 'detached',
      needsSession: true,
      isWanted: ({ worker }) => ['stopped', 'held', 'running', 'attaching'].includes(worker.state),
      act: forEachCluster(({ requester, nodes }) => requester.request('raydap/detach', { workers: keysOf(nodes) })),
    },
    continueWorkers: { ...CONTINUE },
    continueGroup: { ...CONTINUE, isOfGroup: true },
    showStack: {
      needsSession: false,
      isWanted: ({ worker }, isOwnRow) => isOwnRow && worker.state !== 'gone',
      act: forEachCluster(async ({ requester, nodes }) => {
        for (const { worker } of nodes) {
          await stacks.show(worker.key, requester.request('raydap/stack', { worker: worker.key }));
        }
      }),
    },
    goToSource: {
      needsSession: true,
      isWanted: isStopped,
      act: forEachCluster(async ({ connection, nodes: [node] }) => {
        const [threadId] = node === undefined ? [] : threadIdsOf([node]);
        const session = node && sessions.sessionOfWorker(node, connection);
        await session?.customRequest('raydap/focus', { threadId });
      }),
    },
    copyWorkers: {
      done: 'copied',
      needsSession: false,
      isWanted: () => true,
      act: (parts) => {
        const nodes = parts.flatMap((part) => part.nodes);
        return vscode.env.clipboard.writeText(nodes.map(({ worker }) => worker.name).join('\n'));
      },
    },
  };
}

const CONTINUE: Action = {
  verb: 'Continue',
  done: 'continued',
  needsSession: true,
  isWanted: isStopped,
  act: forEachCluster(({ requester, nodes }) => requester.request('raydap/continue', { threads: threadIdsOf(nodes) })),
};

async function addCluster(registry: ClusterRegistry): Promise<void> {
  const preset = vscode.workspace.getConfiguration('raydap').get('dashboard', '').trim();
  const value = preset === '' ? 'http://127.0.0.1:8265' : preset;
  const address = await vscode.window.showInputBox({
    title: 'Add Cluster',
    prompt: 'The URL of its dashboard or of a hub, a Ray address, or auto for the cluster on this machine.',
    value,
    valueSelection: [0, value.length],
    ignoreFocusOut: true,
    validateInput: addressError,
  });
  if (address !== undefined) {
    await registry.add(address.trim());
  }
}

async function renameCluster(registry: ClusterRegistry, connection: ClusterConnection): Promise<void> {
  const { name, address } = connection.cluster;
  const prompt = `A new name for ${address}`;
  const given = await vscode.window.showInputBox({ title: 'Rename Cluster', prompt, value: name });
  if (given !== undefined && given.trim() !== '') {
    await registry.change(connection, { name: given.trim() });
  }
}

/** Start a session that debugs a cluster. */
export function debugCluster({ cluster }: ClusterConnection, more: object = {}): Thenable<boolean> {
  const configuration = { ...debugConfiguration(cluster), ...more };
  // Without this, VS Code would show Run and Debug instead of this view at each stop and click on a stopped worker.
  const options = { suppressDebugView: true };
  return vscode.debug.startDebugging(vscode.workspace.workspaceFolders?.[0], configuration, options);
}

/** Send the request to the session of the cluster. Without a session, start one that attaches to no other workers. */
async function requestInSession(
  { connection, nodes }: ActedOn,
  request: 'raydap/attach' | 'raydap/pause',
): Promise<void> {
  if (connection.session !== undefined || (await debugCluster(connection, { autoAttach: false }))) {
    await connection.attach(keysOf(nodes), request);
  }
}

function keysOf(nodes: readonly WorkerNode[]): string[] {
  return nodes.map(({ worker }) => worker.key);
}

function isUnpaused({ state }: WorkerEntry): boolean {
  return state === 'running' || state === 'held';
}

function isAttachable({ state, agent }: WorkerEntry): boolean {
  return state === 'alive' && agent;
}
