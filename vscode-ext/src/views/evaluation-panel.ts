/** The comparison of one expression's values, in an editor beside the source. */

import { randomBytes } from 'node:crypto';

import * as vscode from 'vscode';

import type { ComparisonMessage } from '../protocol/page-messages';
import { comparisonPage, type Compared } from '../text/comparison-page';
import type { Requester } from './command-target';

/** The name under which this panel keeps values. */
const KEPT = 'editor';

export class EvaluationPanel implements vscode.Disposable {
  private compared: Compared = { expression: '', select: '', kept: false, since: false };
  private requester: Requester | undefined;
  /** The only threads that are asked; undefined for those of the set. */
  private threads: readonly number[] | undefined;
  private panel: vscode.WebviewPanel | undefined;

  /** `extension` is the folder of the extension. */
  constructor(private readonly extension: vscode.Uri) {}

  /** The expression that was evaluated last. */
  get expression(): string {
    return this.compared.expression;
  }

  async show(requester: Requester, expression: string, threads?: readonly number[]): Promise<void> {
    const kept = requester === this.requester && this.compared.kept;
    this.requester = requester;
    this.threads = threads;
    this.compared = { expression, select: '', kept, since: false };
    await this.compare(false);
  }

  /** Evaluates the same expression where the workers are stopped now. */
  async evaluateAgain(): Promise<void> {
    if (this.requester !== undefined) {
      await this.compare(false);
    }
  }

  dispose(): void {
    this.panel?.dispose();
  }

  private async compare(keep: boolean): Promise<void> {
    const { expression, select, since } = this.compared;
    const whom = select.trim() !== '' ? { select } : this.threads !== undefined ? { threads: this.threads } : {};
    const values = { ...(keep && { keep: KEPT }), ...(since && !keep && { baseline: KEPT }) };
    try {
      const answer = await this.requester?.request('raydap/compare', { expression, ...whom, ...values });
      this.compared = { ...this.compared, kept: this.compared.kept || keep, ...(answer && { answer }) };
    } catch (error) {
      const { kept } = this.compared;
      this.compared = {
        expression,
        select,
        kept,
        since,
        problem: error instanceof Error ? error.message : String(error),
      };
    }
    const panel = this.open();
    panel.title = expression;
    const script = panel.webview.asWebviewUri(vscode.Uri.joinPath(this.pages, 'comparison.js'));
    panel.webview.html = comparisonPage(this.compared, randomBytes(16).toString('hex'), script.toString());
  }

  private get pages(): vscode.Uri {
    return vscode.Uri.joinPath(this.extension, 'dist', 'pages');
  }

  private async take(message: ComparisonMessage): Promise<void> {
    if (message.kind === 'focus') {
      await this.requester?.request('raydap/focus', { threadId: message.threadId });
    } else if (message.expression.trim() !== '') {
      const { kept } = this.compared;
      const { select, since } = message;
      this.compared = { expression: message.expression.trim(), select, kept, since };
      await this.compare(message.keep);
    }
  }

  private open(): vscode.WebviewPanel {
    if (this.panel !== undefined) {
      this.panel.reveal(undefined, true);
      return this.panel;
    }
    const place = { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true };
    const options = { enableScripts: true, localResourceRoots: [this.pages] };
    const panel = vscode.window.createWebviewPanel('raydap.evaluation', '', place, options);
    panel.webview.onDidReceiveMessage((message: ComparisonMessage) => {
      this.take(message).catch((error: unknown) => {
        void vscode.window.showErrorMessage(error instanceof Error ? error.message : String(error));
      });
    });
    panel.onDidDispose(() => {
      this.panel = undefined;
    });
    this.panel = panel;
    return panel;
  }
}
