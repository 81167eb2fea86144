/** The commands of the rows of the Ray view. */

import * as vscode from 'vscode';

import { ClusterConnection } from '../model/cluster-connection';
import type { ClusterRegistry } from '../model/cluster-registry';
import { ATTACH } from '../model/configuration';
import { addressError, CLUSTER, configurationOf } from '../model/saved-clusters';
import { GroupNode, WorkerNode } from '../model/worker-tree';
import type { WorkerEntry } from '../protocol/messages';
import type { ClusterFilter } from './cluster-filter';
import { ofKnownRows, type Commands } from './commands';
import type { DebugSessions } from './debug-sessions';
import { reportCount } from './report-count';
import type { StackDocuments } from './stack-documents';
import type { Element, ProblemElement } from './tree-elements';

type Filter = Pick<ClusterFilter, 'shows'>;

export function rowCommands(
  registry: ClusterRegistry,
  sessions: DebugSessions,
  stacks: StackDocuments,
  filter: Filter,
): Commands {
  const commands = commandsOfRows(registry, sessions, stacks, new RowActions(registry, filter));
  return { addCluster: () => addCluster(registry), ...ofKnownRows(commands) };
}

function commandsOfRows(
  registry: ClusterRegistry,
  sessions: DebugSessions,
  stacks: StackDocuments,
  actions: RowActions,
): Commands {
  return {
    removeCluster: (connection: ClusterConnection) => registry.remove(connection),
    renameCluster: (connection: ClusterConnection) => renameCluster(registry, connection),
    reconnectCluster: (row: ClusterConnection | ProblemElement) => {
      (row instanceof ClusterConnection ? row : row.connection).reconnect();
    },
    debugCluster: (connection: ClusterConnection) => debugCluster(connection),
    attachWorkers: (row: Element, rows?: (Element | undefined)[]) => attach(actions, selected(row, rows)),
    pauseWorkers: (row: Element, rows?: (Element | undefined)[]) => pause(actions, selected(row, rows)),
    showStack: async (row: WorkerNode) => {
      const { key } = row.worker;
      await stacks.show(key, registry.connectionOf(row)?.request('raydap/stack', { worker: key }));
    },
    detachWorkers: (row: Element, rows?: (Element | undefined)[]) =>
      actions.run('detached', selected(row, rows), isAttached, (connection, nodes) =>
        connection.request('raydap/detach', { workers: nodes.map(({ worker }) => worker.key) }),
      ),
    continueWorkers: (row: Element, rows?: (Element | undefined)[]) =>
      actions.run('continued', selected(row, rows), isStopped, (connection, nodes) =>
        connection.request('raydap/continue', { threads: threadIdsOf(nodes) }),
      ),
    goToSource: (row: WorkerNode) => {
      const connection = registry.connectionOf(row);
      const [threadId] = threadIdsOf([row]);
      return connection && threadId !== undefined
        ? sessions.sessionOfWorker(row, connection)?.customRequest('raydap/focus', { threadId })
        : undefined;
    },
    copyWorkers: (row: Element, rows?: (Element | undefined)[]) => {
      const names = actions.shownWorkersOf(selected(row, rows)).map(({ worker }) => worker.name);
      reportCount('copied', names.length);
      return vscode.env.clipboard.writeText(names.join('\n'));
    },
  };
}

/** Return the ids of the stopped threads of workers. */
export function threadIdsOf(nodes: readonly WorkerNode[]): number[] {
  return nodes.flatMap(({ worker }) => worker.threads.map(({ threadId }) => threadId));
}

/** Return all selected rows if the command was called on one of them, else only its row. */
function selected(row: Element, rows: (Element | undefined)[] | undefined): Element[] {
  return rows?.includes(row) === true ? rows.filter((each) => each !== undefined) : [row];
}

/** Return the workers in or below these rows, each once. */
function workersOf(rows: readonly Element[]): WorkerNode[] {
  const nodes = rows.flatMap((row) => {
    if (row instanceof WorkerNode) {
      return [row];
    }
    const group = row instanceof GroupNode ? row : row instanceof ClusterConnection ? row.tree.root : undefined;
    return group === undefined ? [] : [...group.workers()];
  });
  return [...new Set(nodes)];
}

/** The actions on the workers in or below rows. They leave out workers that the filter hides. */
class RowActions {
  constructor(
    private readonly registry: ClusterRegistry,
    private readonly filter: Filter,
  ) {}

  shownWorkersOf(rows: readonly Element[]): WorkerNode[] {
    return workersOf(rows).filter((node) => this.filter.shows(this.registry.connectionOf(node), node));
  }

  /** Call `act` once for each cluster, with its wanted workers. Show the number of workers, followed by `verb`. */
  async run(
    verb: string,
    rows: readonly Element[],
    isWanted: (node: WorkerNode) => boolean,
    act: (connection: ClusterConnection, nodes: readonly WorkerNode[]) => Promise<unknown>,
  ): Promise<void> {
    const wanted = this.shownWorkersOf(rows).filter(isWanted);
    const hidden = workersOf(rows).filter(isWanted).length - wanted.length;
    const connections = new Map<ClusterConnection, WorkerNode[]>();
    for (const node of wanted) {
      const connection = this.registry.connectionOf(node);
      if (connection !== undefined) {
        connections.set(connection, [...(connections.get(connection) ?? []), node]);
      }
    }
    for (const [connection, nodes] of connections) {
      await act(connection, nodes);
    }
    reportCount(verb, wanted.length, hidden);
  }
}

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

function debugCluster({ cluster }: ClusterConnection, more: object = {}): Thenable<boolean> {
  const configuration = {
    ...ATTACH,
    name: `Ray: ${cluster.name}`,
    ...configurationOf(cluster),
    ...more,
    [CLUSTER]: cluster.id,
  };
  // Without this, VS Code would show Run and Debug instead of this view at each stop and click on a stopped worker.
  const options = { suppressDebugView: true };
  return vscode.debug.startDebugging(vscode.workspace.workspaceFolders?.[0], configuration, options);
}

/**
 * Attach to the workers of these rows. If there is no session, start one that attaches to no other workers. The row of
 * a group stands for its paused workers. A running worker is attached only if its own row is chosen.
 */
async function attach(actions: RowActions, rows: readonly Element[]): Promise<void> {
  const isWanted = (node: WorkerNode): boolean =>
    node.worker.state === 'paused' || (rows.includes(node) && isAttachable(node.worker));
  await actions.run('being attached', rows, isWanted, (connection, nodes) =>
    requestInSession(connection, nodes, 'raydap/attach'),
  );
}

/** Pause the running workers of these rows. If they are not attached, attach to them first, as `attach` does. */
async function pause(actions: RowActions, rows: readonly Element[]): Promise<void> {
  const isWanted = ({ worker }: WorkerNode): boolean =>
    ['running', 'held'].includes(worker.state) || isAttachable(worker);
  await actions.run('asked to pause', rows, isWanted, (connection, nodes) =>
    requestInSession(connection, nodes, 'raydap/pause'),
  );
}

/** Send the request to the session of the cluster, which is started if there is none. */
async function requestInSession(
  connection: ClusterConnection,
  nodes: readonly WorkerNode[],
  request: 'raydap/attach' | 'raydap/pause',
): Promise<void> {
  if (connection.session !== undefined || (await debugCluster(connection, { autoAttach: false }))) {
    await connection.attach(
      nodes.map(({ worker }) => worker.key),
      request,
    );
  }
}

export function isStopped({ worker }: WorkerNode): boolean {
  return worker.state === 'stopped';
}

function isAttached({ worker }: WorkerNode): boolean {
  return ['stopped', 'held', 'running', 'attaching'].includes(worker.state);
}

function isAttachable({ state, agent }: WorkerEntry): boolean {
  return state === 'alive' && agent;
}
