/** What can be done with the rows of the view. */

import * as vscode from 'vscode';

import { ATTACH } from '../bridge/configuration';
import { argumentsFor, CLUSTER, objection } from '../bridge/clusters';
import { Branch, Leaf } from '../bridge/fleet';
import { Live } from '../bridge/live';
import { isNode, type Element, type Lookout, type Trouble } from './lookout';

/** By the names of the commands. VS Code calls them with the row, and with all that are selected. */
export function actions(lookout: Lookout): Readonly<Record<string, (...rows: never[]) => unknown>> {
  return {
    addCluster: () => addCluster(lookout),
    removeCluster: (live: Live) => lookout.remove(live),
    renameCluster: (live: Live) => renameCluster(lookout, live),
    reconnectCluster: (row: Live | Trouble) => {
      (row instanceof Live ? row : row.live).reconnect();
    },
    debugCluster: (live: Live) => debugCluster(live),
    attachWorkers: (row: Element, rows?: Element[]) => attach(lookout, selected(row, rows)),
    detachWorkers: (row: Element, rows?: Element[]) =>
      each(lookout, selected(row, rows), async (live, leaves) => {
        const attached = leaves.filter(({ worker }) => ['stopped', 'running', 'attaching'].includes(worker.state));
        await live.request('raydap/detach', { workers: attached.map(({ worker }) => worker.key) });
      }),
    continueWorkers: (row: Element, rows?: Element[]) =>
      each(lookout, selected(row, rows), async (live, leaves) => {
        await live.request('raydap/continue', { threads: threadsOf(leaves) });
      }),
    goToSource: (row: Leaf) => {
      const live = lookout.liveOf(row);
      const [threadId] = threadsOf([row]);
      return live && threadId !== undefined
        ? lookout.sessionWith(row, live)?.customRequest('raydap/focus', { threadId })
        : undefined;
    },
    copyWorkers: (row: Element, rows?: Element[]) =>
      vscode.env.clipboard.writeText(
        leavesOf(selected(row, rows), () => true)
          .map(nameOf)
          .join('\n'),
      ),
  };
}

export function threadsOf(leaves: readonly Leaf[]): number[] {
  return leaves.flatMap(({ worker }) => worker.threads.map(({ threadId }) => threadId));
}

function nameOf({ worker }: Leaf): string {
  return worker.name;
}

function selected(row: Element, rows: Element[] | undefined): Element[] {
  return rows?.includes(row) === true ? rows : [row];
}

function leavesOf(rows: readonly Element[], belongs: (leaf: Leaf) => boolean): Leaf[] {
  const leaves = rows.flatMap((row) => {
    if (row instanceof Leaf) {
      return [row];
    }
    const branch = row instanceof Branch ? row : row instanceof Live ? row.fleet.root : undefined;
    return branch === undefined ? [] : [...branch.leaves()];
  });
  return [...new Set(leaves)].filter(belongs);
}

/** Once for each cluster, with its workers among the rows. */
async function each(
  lookout: Lookout,
  rows: readonly Element[],
  act: (live: Live, leaves: readonly Leaf[]) => Promise<void>,
): Promise<void> {
  const clusters = new Set(
    rows.map((row) => (isNode(row) ? lookout.liveOf(row) : row instanceof Live ? row : undefined)),
  );
  for (const live of clusters) {
    if (live !== undefined) {
      await act(
        live,
        leavesOf(rows, (leaf) => lookout.liveOf(leaf) === live),
      );
    }
  }
}

async function addCluster(lookout: Lookout): Promise<void> {
  const preset = vscode.workspace.getConfiguration('raydap').get('dashboard', '').trim();
  const value = preset === '' ? 'http://127.0.0.1:8265' : preset;
  const address = await vscode.window.showInputBox({
    title: 'Add Cluster',
    prompt: 'URL of its dashboard or of a hub, a Ray address, or auto for the cluster on this machine.',
    value,
    valueSelection: [0, value.length],
    ignoreFocusOut: true,
    validateInput: objection,
  });
  if (address !== undefined) {
    await lookout.add(address.trim());
  }
}

async function renameCluster(lookout: Lookout, live: Live): Promise<void> {
  const { name, address } = live.cluster;
  const prompt = `The name of ${address}`;
  const given = await vscode.window.showInputBox({ title: 'Rename Cluster', prompt, value: name });
  if (given !== undefined && given.trim() !== '') {
    await lookout.change(live, { name: given.trim() });
  }
}

function debugCluster(live: Live, more: object = {}): Thenable<boolean> {
  const { cluster } = live;
  const configuration = { ...ATTACH, name: `Ray: ${cluster.name}`, ...argumentsFor(cluster), ...more };
  // A stop would put the Run and Debug view in place of this one, and so would each click on a stopped worker.
  const staying = { suppressDebugView: true };
  const marked = { ...configuration, [CLUSTER]: cluster.id };
  return vscode.debug.startDebugging(vscode.workspace.workspaceFolders?.[0], marked, staying);
}

/** Without a session one is started that attaches to nobody else. */
async function attach(lookout: Lookout, rows: readonly Element[]): Promise<void> {
  await each(lookout, rows, async (live, leaves) => {
    const keys = leaves.filter(({ worker }) => worker.state === 'paused').map(({ worker }) => worker.key);
    const started = live.session !== undefined || (await debugCluster(live, { autoAttach: false }));
    if (started) {
      await live.attach(keys);
    }
  });
}
