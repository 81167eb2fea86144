/** The tree of the Ray view: clusters, jobs, actor classes and tasks, workers. */

import * as vscode from 'vscode';

import type { ClusterConnection } from '../model/cluster-connection';
import type { ClusterRegistry } from '../model/cluster-registry';
import type { Problem } from '../model/problem';
import { actionWords, countsText, type Tally } from '../model/tally';
import { Throttle } from '../model/timers';
import { GroupNode, topmost, WorkerNode, type TreeNode } from '../model/worker-tree';
import { escaped, RowCache, rowOf } from '../text/rows';
import type { ClusterFilter } from './cluster-filter';
import { isTreeNode, ProblemElement, type Element } from './tree-elements';

/** The URI of the rows of gone workers, to which provideFileDecoration gives the colour of disabled text. */
const GONE = vscode.Uri.parse('raydap:/gone');

/**
 * The shortest time between two updates of a group's row. VS Code redraws all rows below it, and a click on a row that
 * is being redrawn is lost (`_addChildrenToClear` in its extHostTreeViews.ts).
 */
const GROUP_INTERVAL_MS = 1_000;

/** The number of workers that are redrawn one by one. More workers are redrawn together with their group. */
const MAX_REDRAWN_NOW = 20;

/** The provider of the view's rows and of their colours. */
export class ClusterTree implements vscode.TreeDataProvider<Element>, vscode.FileDecorationProvider, vscode.Disposable {
  private readonly refresh = new vscode.EventEmitter<Element[] | undefined>();
  readonly onDidChangeTreeData = this.refresh.event;
  private readonly rows = new RowCache((node) => {
    const connection = this.registry.connectionOf(node);
    return rowOf(node, Date.now(), (group) => this.filter.tallyOf(connection, group));
  });
  private readonly problems = new WeakMap<Problem, ProblemElement>();
  private readonly statuses = new WeakMap<ClusterConnection, string>();
  /** The rows as VS Code has received them, and the ids of their children. */
  private readonly drawnRows = new WeakMap<Element, string>();
  private readonly drawnChildren = new WeakMap<Element, string>();
  /** When groups were redrawn last, in milliseconds. */
  private redrawnAt = 0;
  /** The nodes that are to be redrawn, with all rows below them. */
  private pending = new Set<TreeNode>();
  private readonly redrawPending = new Throttle(
    () => {
      const nodes = [...this.pending].filter((node) => this.isChanged(this.elementOf(node)));
      this.pending = new Set();
      this.redrawnAt = Date.now();
      this.refresh.fire(topmost(nodes).map((node) => this.elementOf(node)));
    },
    () => Math.max(0, this.redrawnAt + GROUP_INTERVAL_MS - Date.now()),
  );
  private shown: readonly ClusterConnection[] = [];

  constructor(
    private readonly registry: ClusterRegistry,
    private readonly filter: ClusterFilter,
  ) {}

  /** Update the rows of these clusters that have changed. If the list of clusters has changed, update all rows. */
  update(changed: ReadonlySet<ClusterConnection>): void {
    const nodes = [...changed].flatMap((connection) => this.changedNodes(connection));
    const { all } = this.registry;
    const sameList = all.length === this.shown.length && all.every((each, index) => each === this.shown[index]);
    if (sameList) {
      this.redraw(nodes);
    } else {
      this.refresh.fire(undefined);
    }
  }

  /** Update all rows, because the filter has changed. */
  updateAll(): void {
    this.refresh.fire(undefined);
  }

  /** Update the ages in the rows of all workers. */
  updateAges(): void {
    this.registry.all.forEach(({ tree }) => tree.markAges());
    this.redraw(this.registry.all.flatMap((connection) => this.changedNodes(connection)));
  }

  getChildren(element?: Element): Element[] {
    const children = this.childrenOf(element);
    if (element !== undefined) {
      if (!isTreeNode(element) && !(element instanceof ProblemElement) && this.isClosed(element)) {
        element.watch();
      }
      this.drawnChildren.set(element, idsOf(children));
    }
    return children;
  }

  private childrenOf(element?: Element): Element[] {
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
      ? [this.problemOf(element, element.status.problem)]
      : this.shownOf(element.tree.root.children, element);
  }

  getTreeItem(element: Element): vscode.TreeItem {
    const item = this.itemOf(element);
    this.drawnRows.set(element, JSON.stringify(item));
    return item;
  }

  private itemOf(element: Element): vscode.TreeItem {
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

  dispose(): void {
    vscode.Disposable.from(this.redrawPending, this.refresh).dispose();
  }

  /** Redraw a few workers now, and groups or many workers later, because VS Code redraws all rows below a group. */
  private redraw(nodes: readonly TreeNode[]): void {
    const workers = nodes.filter((node) => node instanceof WorkerNode);
    const isNow = workers.length <= MAX_REDRAWN_NOW;
    if (isNow) {
      this.refresh.fire(workers);
    }
    nodes.filter((node) => !isNow || node instanceof GroupNode).forEach((node) => this.pending.add(node));
    if (this.pending.size > 0) {
      this.redrawPending.call();
    }
  }

  /** Return the nodes whose row or children differ from what VS Code shows. */
  private changedNodes(connection: ClusterConnection): TreeNode[] {
    const nodes = connection.tree.takeChanges();
    this.rows.forget(nodes);
    const status = `${connection.status.kind} ${connection.outage}`;
    if (this.statuses.get(connection) !== status) {
      this.statuses.set(connection, status);
      // The status affects the menus of all rows below.
      this.refresh.fire([connection]);
      return [];
    }
    return [...new Set([connection.tree.root, ...nodes])].filter((node) => this.isChanged(this.elementOf(node)));
  }

  /** Return the element of a node: for the root of a tree, its cluster. */
  private elementOf(node: TreeNode): Element {
    return (node.parent === undefined ? this.registry.connectionOf(node) : undefined) ?? node;
  }

  /** Return whether an element differs from what VS Code shows. It shows no children of a group that was never open. */
  private isChanged(element: Element): boolean {
    const [row, children] = [this.drawnRows.get(element), this.drawnChildren.get(element)];
    return (
      (row !== undefined && row !== JSON.stringify(this.itemOf(element))) ||
      (children !== undefined && children !== idsOf(this.childrenOf(element)))
    );
  }

  private shownOf(nodes: Iterable<TreeNode>, connection: ClusterConnection | undefined): TreeNode[] {
    return [...nodes].filter((node) => this.filter.shows(connection, node));
  }

  private problemOf(connection: ClusterConnection, problem: Problem): ProblemElement {
    const element = this.problems.get(problem) ?? new ProblemElement(connection, problem.text);
    this.problems.set(problem, element);
    return element;
  }

  private nodeItem(node: TreeNode): vscode.TreeItem {
    const { label, description, tooltip, spoken, icon, color, context } = this.rows.get(node);
    const item = new vscode.TreeItem(label);
    const connection = this.registry.connectionOf(node);
    const debugged = connection?.session !== undefined;
    item.id = idOf(node, connection);
    item.description = description;
    item.tooltip = new vscode.MarkdownString(tooltip);
    if (spoken !== undefined) {
      item.accessibilityInformation = { label: spoken };
    }
    item.iconPath = themeIcon(icon, color);
    item.contextValue = debugged ? `${context}.session` : context;
    if (node instanceof GroupNode) {
      const { Collapsed, Expanded } = vscode.TreeItemCollapsibleState;
      item.collapsibleState = node.kind === 'idle' ? Collapsed : Expanded;
    } else if (node.worker.state === 'gone') {
      item.resourceUri = GONE;
    } else if (node.worker.state === 'stopped' && debugged) {
      item.command = { command: 'raydap.goToSource', title: 'Go to Source', arguments: [node.worker.key] };
    }
    return item;
  }

  /** Return whether a cluster of this machine is not watched, because the user has not opened its row yet. */
  private isClosed(connection: ClusterConnection): boolean {
    return connection.status.kind === 'idle' && this.registry.kindOf(connection) === 'local';
  }

  private clusterItem(connection: ClusterConnection): vscode.TreeItem {
    const { cluster, status, outage } = connection;
    // Expand the row even without workers: otherwise VS Code would keep it collapsed when the first worker comes.
    const { Collapsed, Expanded } = vscode.TreeItemCollapsibleState;
    const isClosed = this.isClosed(connection);
    const item = new vscode.TreeItem(cluster.name, isClosed ? Collapsed : Expanded);
    // VS Code remembers whether the row with an id is expanded.
    item.id = `${isClosed ? 'closed' : 'cluster'}:${cluster.id}`;
    const tally = this.filter.tallyOf(connection, connection.tree.root);
    item.description = isClosed ? 'runs on this machine' : clusterDescription(connection, tally);
    item.tooltip = new vscode.MarkdownString(
      [`**${escaped(cluster.name)}**`, escaped(cluster.address), STATUS_TEXTS[status.kind], escaped(outage)]
        .filter((line) => line !== '')
        .join('\n\n'),
    );
    item.iconPath = clusterIcon(connection);
    const kind = this.registry.kindOf(connection);
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

function problemItem({ connection: { cluster }, text }: ProblemElement): vscode.TreeItem {
  const item = new vscode.TreeItem(text);
  item.id = `problem:${cluster.id}`;
  item.tooltip = `${text}\n\nClick to show fixes.`;
  item.iconPath = themeIcon('warning', 'list.warningForeground');
  item.contextValue = 'raydap.problem';
  item.command = { command: 'raydap.showProblem', title: 'Show Fixes', arguments: [cluster.id] };
  return item;
}

/** Return a text with the ids of the elements. */
function idsOf(elements: readonly Element[]): string {
  return elements
    .map((element) =>
      element instanceof WorkerNode ? element.worker.key : element instanceof GroupNode ? element.key : 'problem',
    )
    .join('\n');
}

function idOf(node: TreeNode, connection: ClusterConnection | undefined): string {
  const path = node instanceof WorkerNode ? [`worker:${node.worker.key}`] : [];
  for (let group = node instanceof WorkerNode ? node.parent : node; group.parent !== undefined; group = group.parent) {
    path.unshift(group.key);
  }
  return [`cluster:${connection?.cluster.id ?? ''}`, ...path].join('/');
}
