/** The Ray view: clusters, jobs, actor classes and tasks, workers. */

import * as vscode from 'vscode';

import { Branch, Leaf } from '../bridge/fleet';
import type { Live } from '../bridge/live';
import { Rows } from '../bridge/rows';
import { describe, escaped } from '../bridge/words';
import { counted } from '../bridge/worker';
import { isNode, Trouble, type Element, type Lookout } from './lookout';

const GONE = vscode.Uri.parse('raydap:/gone');

export class Tree implements vscode.TreeDataProvider<Element>, vscode.FileDecorationProvider {
  private readonly refresh = new vscode.EventEmitter<Element[] | undefined>();
  readonly onDidChangeTreeData = this.refresh.event;
  private readonly rows = new Rows((node) => describe(node, Date.now()));
  private readonly troubles = new WeakMap<Live, Trouble>();
  private readonly statuses = new WeakMap<Live, string>();
  private shown: readonly Live[] = [];

  constructor(private readonly lookout: Lookout) {}

  /** Shows what has changed in these clusters. */
  update(differing: ReadonlySet<Live>): void {
    const elements = [...differing].flatMap((live) => this.changesOf(live));
    const { all } = this.lookout;
    const same = all.length === this.shown.length && all.every((live, index) => live === this.shown[index]);
    this.refresh.fire(same ? elements : undefined);
  }

  /** Times are told anew. */
  updateAges(): void {
    this.lookout.all.forEach((live) => {
      live.fleet.touchAges();
    });
    this.refresh.fire(this.lookout.all.flatMap((live) => this.changesOf(live)));
  }

  getChildren(element?: Element): Element[] {
    if (element === undefined) {
      this.shown = this.lookout.all;
      return [...this.shown];
    }
    if (element instanceof Leaf || element instanceof Trouble) {
      return [];
    }
    if (element instanceof Branch) {
      return [...element.children];
    }
    return element.status.kind === 'failed' ? [this.troubleOf(element)] : [...element.fleet.root.children];
  }

  getTreeItem(element: Element): vscode.TreeItem {
    if (element instanceof Trouble) {
      return troubleItem(element);
    }
    return isNode(element) ? this.nodeItem(element) : this.clusterItem(element);
  }

  getParent(element: Element): Element | undefined {
    if (element instanceof Trouble) {
      return element.live;
    }
    if (!isNode(element)) {
      return undefined;
    }
    const { parent } = element;
    return parent?.parent === undefined ? this.lookout.liveOf(element) : parent;
  }

  /** A worker that is gone is dimmed. */
  provideFileDecoration(uri: vscode.Uri): vscode.FileDecoration | undefined {
    return uri.toString() === GONE.toString()
      ? new vscode.FileDecoration(undefined, undefined, new vscode.ThemeColor('disabledForeground'))
      : undefined;
  }

  /** A status that is different changes what can be done with every worker of the cluster. */
  private changesOf(live: Live): Element[] {
    const { nodes, roots } = live.fleet.takeChanges();
    this.rows.forget(nodes);
    const status = `${live.status.kind} ${live.outage}`;
    const same = this.statuses.get(live) === status;
    this.statuses.set(live, status);
    return same && roots.length > 0 && !roots.includes(live.fleet.root) ? [...roots] : [live];
  }

  private troubleOf(live: Live): Trouble {
    const trouble = this.troubles.get(live) ?? new Trouble(live);
    this.troubles.set(live, trouble);
    return trouble;
  }

  private nodeItem(node: Branch | Leaf): vscode.TreeItem {
    const { label, description, tooltip, icon, color, context } = this.rows.of(node);
    const item = new vscode.TreeItem(label);
    const live = this.lookout.liveOf(node);
    const debugged = live?.session !== undefined;
    item.id = idOf(node, live);
    item.description = description;
    item.tooltip = new vscode.MarkdownString(tooltip);
    item.iconPath = new vscode.ThemeIcon(icon, color === undefined ? undefined : new vscode.ThemeColor(color));
    item.contextValue = debugged ? `${context}.session` : context;
    if (node instanceof Branch) {
      item.collapsibleState = vscode.TreeItemCollapsibleState.Expanded;
    } else if (node.worker.state === 'gone') {
      item.resourceUri = GONE;
    } else if (node.worker.state === 'stopped' && debugged) {
      item.command = { command: 'raydap.goToSource', title: 'Go to Source', arguments: [node] };
    }
    return item;
  }

  private clusterItem(live: Live): vscode.TreeItem {
    const { cluster, status, outage } = live;
    // Also without workers: VS Code would leave it closed when the first one comes.
    const item = new vscode.TreeItem(cluster.name, vscode.TreeItemCollapsibleState.Expanded);
    item.id = `cluster:${cluster.id}`;
    item.description = summary(live);
    item.tooltip = new vscode.MarkdownString(
      [`**${escaped(cluster.name)}**`, escaped(cluster.address), TOOLTIPS[status.kind], escaped(outage)]
        .filter((line) => line !== '')
        .join('\n\n'),
    );
    item.iconPath = clusterIcon(live);
    item.contextValue = ['raydap.cluster', this.lookout.isSaved(live) ? 'saved' : 'passing', ...doable(live)].join('.');
    return item;
  }
}

function clusterIcon({ status, outage, session }: Live): vscode.ThemeIcon {
  const color =
    status.kind === 'failed'
      ? 'disabledForeground'
      : outage !== ''
        ? 'list.warningForeground'
        : session && 'debugIcon.startForeground';
  const icon = session === undefined ? 'server-environment' : 'debug-alt';
  return new vscode.ThemeIcon(icon, color === undefined ? undefined : new vscode.ThemeColor(color));
}

const TOOLTIPS = {
  idle: '',
  connecting: 'Connecting',
  watching: 'Watched; no worker is touched until you debug it',
  session: 'Being debugged',
  failed: 'Not connected',
};

function doable({ status, fleet, session }: Live): string[] {
  return [
    status.kind,
    ...(fleet.root.tally.stopped > 0 ? ['continue'] : []),
    ...(session !== undefined && fleet.root.tally.paused > 0 ? ['attach'] : []),
  ];
}

function summary(live: Live): string {
  const counts = stateOf(live);
  return live.outage === '' ? counts : `does not answer · ${counts}`;
}

function stateOf({ status, fleet }: Live): string {
  switch (status.kind) {
    case 'idle':
      return '';
    case 'connecting':
      return 'connecting …';
    case 'watching':
      return counted(fleet.root.tally) || 'nobody is paused';
    case 'session':
      return counted(fleet.root.tally) || 'debugging, nobody is stopped';
    case 'failed':
      return 'not connected';
  }
}

function troubleItem({ live }: Trouble): vscode.TreeItem {
  const text = live.status.kind === 'failed' ? live.status.problem.text : '';
  const item = new vscode.TreeItem(text);
  item.id = `trouble:${live.cluster.id}`;
  item.tooltip = `${text}\n\nClick for what can be done.`;
  item.iconPath = new vscode.ThemeIcon('warning', new vscode.ThemeColor('list.warningForeground'));
  item.contextValue = 'raydap.trouble';
  item.command = { command: 'raydap.repair', title: 'What Can Be Done', arguments: [live] };
  return item;
}

function idOf(node: Branch | Leaf, live: Live | undefined): string {
  const path = node instanceof Leaf ? [`worker:${node.worker.key}`] : [];
  for (let branch = node instanceof Leaf ? node.parent : node; branch.parent !== undefined; branch = branch.parent) {
    path.unshift(branch.key);
  }
  return [`cluster:${live?.cluster.id ?? ''}`, ...path].join('/');
}
