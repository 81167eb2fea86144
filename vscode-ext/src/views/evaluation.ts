/** The table of one expression's values, in an editor beside the source. */

import { randomBytes } from 'node:crypto';

import * as vscode from 'vscode';

import { compare, type Result } from '../bridge/comparison';
import { page } from '../bridge/page';

type Ask = (expression: string) => Promise<readonly Result[]>;

export class Evaluation implements vscode.Disposable {
  expression = '';
  private ask: Ask | undefined;
  private panel: vscode.WebviewPanel | undefined;

  async show(expression: string, ask: Ask): Promise<void> {
    this.expression = expression;
    this.ask = ask;
    await this.again();
  }

  /** The same expression, where the workers are now. */
  async again(): Promise<void> {
    if (this.ask === undefined) {
      return;
    }
    const results = await this.ask(this.expression);
    const panel = this.open();
    panel.title = this.expression;
    panel.webview.html = page(compare(this.expression, results), randomBytes(16).toString('hex'));
  }

  dispose(): void {
    this.panel?.dispose();
  }

  private open(): vscode.WebviewPanel {
    if (this.panel !== undefined) {
      this.panel.reveal(undefined, true);
      return this.panel;
    }
    const place = { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true };
    const panel = vscode.window.createWebviewPanel('raydap.evaluation', '', place, { localResourceRoots: [] });
    panel.onDidDispose(() => {
      this.panel = undefined;
    });
    this.panel = panel;
    return panel;
  }
}
