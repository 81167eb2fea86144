/** The tree of the Ray view: clusters, jobs, actor classes and tasks, workers. */

import * as vscode from 'vscode';

import type { ClusterConnection } from '../model/cluster-connection';
import type { ClusterRegistry } from '../model/cluster-registry';
import type { Problem } from '../model/problem';
import { actionWords, countsText, type Tally } from '../model/tally';
import { GroupNode, WorkerNode, type TreeNode } from '../model/worker-tree';
import { escaped, RowCache, rowOf } from '../text/rows';
import { wrapped } from '../text/wrapped';
import type { ClusterFilter } from './cluster-filter';
import { isTreeNode, ProblemElement, type Element } from './tree-elements';

/** The URI of the rows of gone workers, to which provideFileDecoration gives the colour of disabled text. */
const GONE = vscode.Uri.parse('raydap:/gone');

/** The provider of the view's rows and of their colours. */
export class ClusterTree implements vscode.TreeDataProvider<Element>, vscode.FileDecorationProvider {
  private readonly refresh = new vscode.EventEmitter<Element[] | undefined>();
  readonly onDidChangeTreeData = this.refresh.event;
  private readonly rows = new RowCache((node) => {
    const connection = this.registry.connectionOf(node);
    return rowOf(node, Date.now(), (group) => this.filter.tallyOf(connection, group));
  });
  private readonly problems = new WeakMap<Problem, readonly ProblemElement[]>();
  private readonly statuses = new WeakMap<ClusterConnection, string>();
  private shown: readonly ClusterConnection[] = [];

  constructor(
    private readonly registry: ClusterRegistry,
    private readonly filter: ClusterFilter,
  ) {}

  /** Update the changed rows of these clusters. If the list of clusters has changed, update all rows. */
  update(changed: ReadonlySet<ClusterConnection>): void {
    const elements = [...changed].flatMap((connection) => this.changedElements(connection));
    const { all } = this.registry;
    const sameList = all.length === this.shown.length && all.every((each, index) => each === this.shown[index]);
    this.refresh.fire(sameList ? elements : undefined);
  }

  /** Update all rows, because the filter has changed. */
  updateAll(): void {
    this.refresh.fire(undefined);
  }

  /** Update the ages in the rows of all workers. */
  updateAges(): void {
    this.registry.all.forEach(({ tree }) => tree.markAges());
    this.refresh.fire(this.registry.all.flatMap((connection) => this.changedElements(connection)));
  }

  getChildren(element?: Element): Element[] {
    if (element === undefined) {
      this.shown = this.registry.all;
      return [...this.shown];
    }
    if (element instanceof WorkerNode || element instanceof ProblemElement) {
      return [];
    }
    if (element instanceof GroupNode) {
      return this.shownOf(element.children, this.registry.connectionOf(element));
    }
    return element.status.kind === 'failed'
      ? this.linesOf(element, element.status.problem)
      : this.shownOf(element.tree.root.children, element);
  }

  getTreeItem(element: Element): vscode.TreeItem {
    if (element instanceof ProblemElement) {
      return problemItem(element);
    }
    return isTreeNode(element) ? this.nodeItem(element) : this.clusterItem(element);
  }

  getParent(element: Element): Element | undefined {
    if (element instanceof ProblemElement) {
      return element.connection;
    }
    if (!isTreeNode(element)) {
      return undefined;
    }
    const { parent } = element;
    return parent?.parent === undefined ? this.registry.connectionOf(element) : parent;
  }

  provideFileDecoration(uri: vscode.Uri): vscode.FileDecoration | undefined {
    return uri.toString() === GONE.toString()
      ? new vscode.FileDecoration(undefined, undefined, new vscode.ThemeColor('disabledForeground'))
      : undefined;
  }

  /**
   * Return the changed rows. If the status of the cluster has changed, return only its row, which stands for all rows
   * below: the status affects their menus.
   */
  private changedElements(connection: ClusterConnection): Element[] {
    const { nodes, roots } = connection.tree.takeChanges();
    this.rows.forget(nodes);
    const status = `${connection.status.kind} ${connection.outage}`;
    const sameStatus = this.statuses.get(connection) === status;
    this.statuses.set(connection, status);
    return sameStatus && roots.length > 0 && !roots.includes(connection.tree.root) ? [...roots] : [connection];
  }

  private shownOf(nodes: Iterable<TreeNode>, connection: ClusterConnection | undefined): TreeNode[] {
    return [...nodes].filter((node) => this.filter.shows(connection, node));
  }

  private linesOf(connection: ClusterConnection, problem: Problem): ProblemElement[] {
    const lines =
      this.problems.get(problem) ??
      wrapped(problem.text).map((text, index) => new ProblemElement(connection, text, index));
    this.problems.set(problem, lines);
    return [...lines];
  }

  private nodeItem(node: TreeNode): vscode.TreeItem {
    const { label, description, tooltip, icon, color, context } = this.rows.get(node);
    const item = new vscode.TreeItem(label);
    const connection = this.registry.connectionOf(node);
    const debugged = connection?.session !== undefined;
    item.id = idOf(node, connection);
    item.description = description;
    item.tooltip = new vscode.MarkdownString(tooltip);
    item.iconPath = themeIcon(icon, color);
    item.contextValue = debugged ? `${context}.session` : context;
    if (node instanceof GroupNode) {
      const { Collapsed, Expanded } = vscode.TreeItemCollapsibleState;
      item.collapsibleState = node.kind === 'idle' ? Collapsed : Expanded;
    } else if (node.worker.state === 'gone') {
      item.resourceUri = GONE;
    } else if (node.worker.state === 'stopped' && debugged) {
      item.command = { command: 'raydap.goToSource', title: 'Go to Source', arguments: [node] };
    }
    return item;
  }

  private clusterItem(connection: ClusterConnection): vscode.TreeItem {
    const { cluster, status, outage } = connection;
    // Expand the row even without workers: otherwise VS Code would keep it collapsed when the first worker comes.
    const item = new vscode.TreeItem(cluster.name, vscode.TreeItemCollapsibleState.Expanded);
    item.id = `cluster:${cluster.id}`;
    const tally = this.filter.tallyOf(connection, connection.tree.root);
    item.description = clusterDescription(connection, tally);
    item.tooltip = new vscode.MarkdownString(
      [`**${escaped(cluster.name)}**`, escaped(cluster.address), STATUS_TEXTS[status.kind], escaped(outage)]
        .filter((line) => line !== '')
        .join('\n\n'),
    );
    item.iconPath = clusterIcon(connection);
    const kind = this.registry.isSaved(connection) ? 'saved' : 'temporary';
    // Without a session, a cluster has no actions for its workers: `debugCluster` comes first.
    const words = connection.session === undefined ? [] : actionWords(tally);
    item.contextValue = ['raydap.cluster', kind, status.kind, ...words].join('.');
    return item;
  }
}

const STATUS_TEXTS = {
  idle: '',
  connecting: 'Connecting',
  watching: 'Watched; raydap attaches to workers only when you debug them',
  session: 'Being debugged',
  failed: 'Not connected',
};

function clusterIcon({ status, outage, session }: ClusterConnection): vscode.ThemeIcon {
  const color =
    status.kind === 'failed'
      ? 'disabledForeground'
      : outage !== ''
        ? 'list.warningForeground'
        : session && 'debugIcon.startForeground';
  return themeIcon(session === undefined ? 'server-environment' : 'debug-alt', color);
}

function themeIcon(icon: string, color: string | undefined): vscode.ThemeIcon {
  return new vscode.ThemeIcon(icon, color === undefined ? undefined : new vscode.ThemeColor(color));
}

function clusterDescription(connection: ClusterConnection, tally: Readonly<Tally>): string {
  const status = statusDescription(connection, tally);
  return connection.outage === '' ? status : `does not answer · ${status}`;
}

function statusDescription({ status }: ClusterConnection, tally: Readonly<Tally>): string {
  switch (status.kind) {
    case 'idle':
      return '';
    case 'connecting':
      return 'connecting …';
    case 'watching':
      return countsText(tally) || 'no worker is paused';
    case 'session':
      return countsText(tally) || 'debugging, no worker is stopped';
    case 'failed':
      return 'not connected';
  }
}

function problemItem({ connection, text, index }: ProblemElement): vscode.TreeItem {
  const whole = connection.status.kind === 'failed' ? connection.status.problem.text : text;
  const item = new vscode.TreeItem(text);
  item.id = `problem:${connection.cluster.id}:${index}`;
  item.tooltip = `${whole}\n\nClick to show fixes.`;
  item.iconPath = index === 0 ? themeIcon('warning', 'list.warningForeground') : themeIcon('blank', undefined);
  item.contextValue = index === 0 ? 'raydap.problem' : '';
  item.command = { command: 'raydap.showProblem', title: 'Show Fixes', arguments: [connection] };
  return item;
}

function idOf(node: TreeNode, connection: ClusterConnection | undefined): string {
  const path = node instanceof WorkerNode ? [`worker:${node.worker.key}`] : [];
  for (let group = node instanceof WorkerNode ? node.parent : node; group.parent !== undefined; group = group.parent) {
    path.unshift(group.key);
  }
  return [`cluster:${connection?.cluster.id ?? ''}`, ...path].join('/');
}
