/** The comparison of one expression's values, in an editor beside the source. */

import { randomBytes } from 'node:crypto';

import * as vscode from 'vscode';

import { showingError } from '../debug/error-message';
import { ClusterConnection, type Session } from '../model/cluster-connection';
import { Latest, Throttle } from '../model/timers';
import type { WorkerEntry } from '../protocol/messages';
import type { CompletedField, ComparisonMessage, ToComparison } from '../protocol/page-messages';
import { comparisonPage, comparisonResults, type Compared } from '../text/comparison-page';
import { expressionOf, setCompletions, withNames } from '../text/set-completion';
import { stepOf, withStep } from '../text/value-plot';
import type { Requester } from './command-target';
import { rootOf } from './debug-sessions';

/** The name under which this panel keeps values. */
const KEPT = 'editor';

/**
 * The shortest time between a stop and the comparison that follows it: workers that step together stop within it. After
 * a comparison that took longer, the time is as long as that comparison.
 */
const REFRESH_MS = 300;

/** The panel that shows the comparison. */
export class EvaluationPanel implements vscode.Disposable {
  private compared: Compared = { expression: '', select: '', kept: false, since: false, live: true };
  /** The session in which the expression is evaluated. */
  private requester: Requester | undefined;
  /** The threads that evaluate the expression; undefined for the threads of the set. */
  private threads: readonly number[] | undefined;
  private readonly latest = new Latest();
  /** Whether workers have stopped or continued since the values were requested. */
  private isMoved = false;
  /** Whether to evaluate again because a worker has stopped, as soon as the page is visible. */
  private isStale = false;
  /** The duration of the last comparison. */
  private tookMs = 0;
  private readonly refresh = new Throttle(
    () => showingError(this.refreshNow()),
    () => Math.max(REFRESH_MS, this.tookMs),
  );
  /** Whether the HTML of the page contains all updates. */
  private isRendered = true;
  private panel: vscode.WebviewPanel | undefined;

  /** `extension` is the folder of the extension. */
  constructor(private readonly extension: vscode.Uri) {}

  /** The expression that was evaluated last. */
  get expression(): string {
    return this.compared.expression;
  }

  /** Evaluate an expression in these threads or in this set, else in all stopped threads, and show the values. */
  async show(
    requester: Requester,
    expression: string,
    { threads, select = '' }: { readonly threads?: readonly number[]; readonly select?: string | undefined } = {},
  ): Promise<void> {
    const kept = requester === this.requester && this.compared.kept;
    this.requester = requester;
    this.threads = threads;
    this.compared = { expression, select, kept, since: false, live: this.compared.live };
    await this.compare(false);
  }

  /** Evaluate the same expression where the workers are stopped now. */
  async evaluateAgain(): Promise<void> {
    if (this.requester !== undefined) {
      await this.compare(false);
    }
  }

  /** Mark the values as old, because workers of this session have moved. After a stop, evaluate again. */
  workersMoved(sessionId: string, isStop: boolean): void {
    const { panel, requester } = this;
    if (requester === undefined || idOf(requester) !== sessionId) {
      return;
    }
    const isFirst = !this.isMoved;
    this.isMoved = true;
    if (isFirst && panel !== undefined) {
      this.update(panel, { kind: 'moved' });
    }
    if (isStop && panel !== undefined && this.compared.live) {
      this.isStale = true;
      this.refresh.call();
    }
  }

  dispose(): void {
    this.refresh.dispose();
    this.panel?.dispose();
  }

  /** Evaluate again after a stop, unless the page is hidden or a comparison has begun since the stop. */
  private async refreshNow(): Promise<void> {
    if (this.isStale && this.panel?.visible === true) {
      await this.compare(false, true);
    }
  }

  /** Evaluate the expression and show the values. `isRefresh` is false if the user has asked for it. */
  private async compare(keep: boolean, isRefresh = false): Promise<void> {
    const asked = this.compared;
    const { requester, threads } = this;
    const { expression, select, since } = asked;
    const whom = select.trim() !== '' ? { select } : threads !== undefined ? { threads } : {};
    const values = { ...(keep && { keep: KEPT }), ...(since && !keep && { baseline: KEPT }) };
    const isLatest = this.latest.begin();
    const wasMoved = this.isMoved;
    this.isMoved = false;
    this.isStale = false;
    const begun = Date.now();
    let compared: Compared;
    try {
      const answer = await requester?.request('raydap/compare', { expression, ...whom, ...values });
      const step = answer && stepOf(answer, namesOf(requester));
      const steps = step === undefined ? [] : withStep(asked.steps ?? [], step, wasMoved);
      compared = { ...asked, kept: asked.kept || keep, ...(answer && { answer, steps }) };
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      compared = { expression, select, kept: asked.kept, since, live: asked.live, problem };
    }
    this.tookMs = Date.now() - begun;
    if (!isLatest()) {
      // The page shows a later comparison, which can still use the values that this one has kept.
      const kept = this.compared.kept || (requester === this.requester && compared.kept);
      this.compared = { ...this.compared, kept };
      return;
    }
    this.compared = compared;
    if (isRefresh && this.panel === undefined) {
      // The user has closed the page in the meantime.
      return;
    }
    const isNew = this.panel === undefined;
    const panel = this.panel ?? this.open();
    if (!isRefresh) {
      panel.reveal(undefined, true);
    }
    panel.title = expression;
    if (isNew) {
      this.render(panel);
    } else {
      const results = comparisonResults(compared, this.isMoved);
      this.update(panel, { kind: 'compared', expression, select, since, kept: compared.kept, results });
    }
  }

  /** Update the page by a message: loading it again would lose its focus and its sorting. */
  private update(panel: vscode.WebviewPanel, message: ToComparison): void {
    if (panel.visible) {
      void panel.webview.postMessage(message);
      this.isRendered = false;
    } else {
      this.render(panel);
    }
  }

  private render({ webview }: vscode.WebviewPanel): void {
    this.isRendered = true;
    const script = webview.asWebviewUri(vscode.Uri.joinPath(this.pages, 'comparison.js')).toString();
    webview.html = comparisonPage(this.compared, randomBytes(16).toString('hex'), script, this.isMoved);
  }

  private get pages(): vscode.Uri {
    return vscode.Uri.joinPath(this.extension, 'dist', 'pages');
  }

  private async take(message: ComparisonMessage): Promise<void> {
    if (message.kind === 'focus') {
      await this.requester?.request('raydap/focus', { threadId: message.threadId });
    } else if (message.kind === 'complete') {
      const { field, text } = message;
      const options = await this.optionsFor(field, text);
      void this.panel?.webview.postMessage({ kind: 'completions', field, text, options } satisfies ToComparison);
    } else if (message.expression.trim() !== '') {
      const { kept } = this.compared;
      const { select, since, live } = message;
      const expression = message.expression.trim();
      const isSame = expression === this.compared.expression && select === this.compared.select;
      const steps = isSame ? (this.compared.steps ?? []) : [];
      this.compared = { expression, select, kept, since, live, steps };
      await this.compare(message.keep);
    }
  }

  /** Return texts with which a field can continue. The expression is completed in the frame that the user looks at. */
  private async optionsFor(field: CompletedField, text: string): Promise<readonly string[]> {
    const expression = field === 'expression' ? text : expressionOf(text);
    if (expression === undefined) {
      return setCompletions(text, workersOf(this.requester));
    }
    const frame = vscode.debug.activeStackItem;
    const { requester } = this;
    const sessionId = requester && idOf(requester);
    if (frame === undefined || !('frameId' in frame) || rootOf(frame.session).id !== sessionId) {
      return [];
    }
    const place = { frameId: frame.frameId, text: expression, column: expression.length + 1 };
    // A worker that has resumed offers no names.
    const answer = await requester?.request('completions', place).catch(() => undefined);
    const names = answer?.targets.map((target) => target.text ?? target.label) ?? [];
    return withNames(text, names);
  }

  private open(): vscode.WebviewPanel {
    const place = { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true };
    const options = { enableScripts: true, localResourceRoots: [this.pages] };
    const panel = vscode.window.createWebviewPanel('raydap.evaluation', '', place, options);
    panel.webview.onDidReceiveMessage((message: ComparisonMessage) => {
      showingError(this.take(message));
    });
    // VS Code loads a hidden page from its HTML again when it is shown, so the HTML must contain all updates.
    panel.onDidChangeViewState(() => {
      if (panel.visible) {
        showingError(this.refreshNow());
      } else if (!this.isRendered) {
        this.render(panel);
      }
    });
    const setContext = (isOpen: boolean): void =>
      void vscode.commands.executeCommand('setContext', 'raydap.comparing', isOpen);
    panel.onDidDispose(() => {
      this.panel = undefined;
      setContext(false);
    });
    setContext(true);
    this.panel = panel;
    return panel;
  }
}

/** Return the names of the stopped threads, by their ids. */
function namesOf(requester: Requester | undefined): ReadonlyMap<number, string> {
  const threads = workersOf(requester).flatMap(({ title, threads: all }) =>
    all.map(({ threadId, order }) => [threadId, order === 0 ? title : `${title} (${order})`] as const),
  );
  return new Map(threads);
}

function workersOf(requester: Requester | undefined): WorkerEntry[] {
  const nodes = requester instanceof ClusterConnection ? [...requester.tree.root.workers()] : [];
  return nodes.map(({ worker }) => worker);
}

/** Return the id of the VS Code session that answers the requests. */
function idOf(requester: Requester): string | undefined {
  return requester instanceof ClusterConnection ? requester.session?.id : (requester as Partial<Session>).id;
}
