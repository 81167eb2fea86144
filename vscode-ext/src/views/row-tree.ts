/** A tree view whose rows are plain data. */

import * as vscode from 'vscode';

import type { CodeLocation } from '../protocol/messages';
import type { Row } from '../text/row';

/** The colours of icons that need one. */
const COLOURS: Readonly<Record<string, string>> = {
  error: 'list.errorForeground',
  warning: 'list.warningForeground',
  pass: 'testing.iconPassed',
};

/** The view and the provider of its rows. */
export class RowTree<R extends Row<R>> implements vscode.TreeDataProvider<R>, vscode.Disposable {
  private readonly refresh = new vscode.EventEmitter<undefined>();
  readonly onDidChangeTreeData = this.refresh.event;
  protected rows: readonly R[] = [];
  private readonly parents = new WeakMap<R, R>();
  readonly view: vscode.TreeView<R>;

  constructor(id: string) {
    this.view = vscode.window.createTreeView(id, { treeDataProvider: this });
  }

  getChildren(row?: R): R[] {
    return [...(row === undefined ? this.rows : row.children)];
  }

  /** Return the present row with this id. */
  get(id: string, rows = this.rows): R | undefined {
    return rows.find((row) => row.id === id) ?? rows.map(({ children }) => this.get(id, children)).find(Boolean);
  }

  getParent(row: R): R | undefined {
    return this.parents.get(row);
  }

  getTreeItem(row: R): vscode.TreeItem {
    const { None, Collapsed, Expanded } = vscode.TreeItemCollapsibleState;
    const state = row.children.length === 0 ? None : row.isCollapsed === true ? Collapsed : Expanded;
    const item = new vscode.TreeItem(row.label, state);
    const colour = COLOURS[row.icon];
    item.id = row.id;
    item.description = row.description;
    item.tooltip = row.tooltip;
    item.iconPath = new vscode.ThemeIcon(row.icon, colour === undefined ? undefined : new vscode.ThemeColor(colour));
    item.contextValue = row.context;
    if (row.frame !== null) {
      item.command = { command: 'vscode.open', title: 'Go to Source', arguments: placeOf(row.frame) };
    }
    return item;
  }

  /** Show these rows. */
  protected replace(rows: readonly R[]): void {
    const before = JSON.stringify(this.rows);
    this.rows = rows;
    this.adopt(rows);
    // Refresh only after a change: VS Code loses a click on a row that is being replaced, even by an equal row.
    if (JSON.stringify(rows) !== before) {
      this.refresh.fire(undefined);
    }
  }

  dispose(): void {
    vscode.Disposable.from(this.view, this.refresh).dispose();
  }

  private adopt(rows: readonly R[], parent?: R): void {
    for (const row of rows) {
      if (parent !== undefined) {
        this.parents.set(row, parent);
      }
      this.adopt(row.children, row);
    }
  }
}

/** Return the arguments of VS Code's command `vscode.open` that lead to a line. */
export function placeOf({ path, line }: Pick<CodeLocation, 'path' | 'line'>): unknown[] {
  const position = new vscode.Position(Math.max(0, line - 1), 0);
  return [vscode.Uri.file(path), { selection: new vscode.Range(position, position), preview: true }];
}
