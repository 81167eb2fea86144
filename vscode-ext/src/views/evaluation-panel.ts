/** The table of one expression's values, in an editor beside the source. */

import { randomBytes } from 'node:crypto';

import * as vscode from 'vscode';

import { compare } from '../model/comparison';
import type { Evaluation } from '../protocol/messages';
import { comparisonPage } from '../text/comparison-page';

type Evaluate = (expression: string) => Promise<readonly Evaluation[]>;

export class EvaluationPanel implements vscode.Disposable {
  /** The expression that was evaluated last. */
  expression = '';
  private evaluate: Evaluate | undefined;
  private panel: vscode.WebviewPanel | undefined;

  async show(expression: string, evaluate: Evaluate): Promise<void> {
    this.expression = expression;
    this.evaluate = evaluate;
    await this.evaluateAgain();
  }

  /** Evaluates the same expression where the workers are stopped now. */
  async evaluateAgain(): Promise<void> {
    if (this.evaluate === undefined) {
      return;
    }
    const results = await this.evaluate(this.expression);
    const panel = this.open();
    panel.title = this.expression;
    panel.webview.html = comparisonPage(compare(this.expression, results), randomBytes(16).toString('hex'));
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
