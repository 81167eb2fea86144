/** The names of the workers that are stopped at a line, at the end of the line. */

import * as vscode from 'vscode';

import type { SessionLines, StoppedLinesTracker } from '../debug/stopped-lines-tracker';
import { Throttle } from '../model/timers';
import type { WorkerEntry } from '../protocol/messages';
import { lineLabel } from '../text/line-label';
import type { ClusterFilter } from './cluster-filter';
import { rootOf, type DebugSessions } from './debug-sessions';

/** The time between a change and the update. Many workers stop at once, and a step is over within this time. */
const UPDATE_INTERVAL_MS = 100;

/** The workers at each line, counted from 1, by the URI of the document. */
type WorkersByLine = ReadonlyMap<string, ReadonlyMap<number, ReadonlySet<WorkerEntry>>>;

/** The decorations in all visible editors. */
export class LineDecorations implements vscode.Disposable {
  private readonly type = vscode.window.createTextEditorDecorationType({
    after: { color: new vscode.ThemeColor('foreground'), fontStyle: 'italic', margin: '0 0 0 2em' },
  });
  private readonly throttle = new Throttle(() => this.show(), UPDATE_INTERVAL_MS);
  private readonly subscriptions: vscode.Disposable;

  constructor(
    private readonly sessions: DebugSessions,
    private readonly tracker: StoppedLinesTracker,
    private readonly filter: Pick<ClusterFilter, 'shows'>,
  ) {
    const update = (): void => this.update();
    this.subscriptions = vscode.Disposable.from(
      tracker.onDidChange(update),
      vscode.window.onDidChangeVisibleTextEditors(update),
    );
  }

  /** Schedule an update, because the lines, the workers or the editors have changed. */
  update(): void {
    this.throttle.call();
  }

  dispose(): void {
    vscode.Disposable.from(this.subscriptions, this.throttle, this.type).dispose();
  }

  private show(): void {
    const documents = this.workersByLine();
    for (const editor of vscode.window.visibleTextEditors) {
      const { document } = editor;
      const lines = [...(documents.get(document.uri.toString()) ?? [])];
      const inDocument = lines.filter(([line]) => line >= 1 && line <= document.lineCount);
      editor.setDecorations(
        this.type,
        inDocument.map(([line, workers]) => decoration(document.lineAt(line - 1).range.end, [...workers])),
      );
    }
  }

  private workersByLine(): WorkersByLine {
    const documents = new Map<string, Map<number, Set<WorkerEntry>>>();
    for (const { session, lines } of this.tracker.all) {
      for (const { worker, threadId } of this.stoppedThreads(session)) {
        const stopped = lines.get(threadId);
        if (stopped !== undefined) {
          const uri = vscode.debug.asDebugSourceUri(stopped.source, session).toString();
          const byLine = documents.get(uri) ?? new Map<number, Set<WorkerEntry>>();
          documents.set(uri, byLine.set(stopped.line, (byLine.get(stopped.line) ?? new Set()).add(worker)));
        }
      }
    }
    return documents;
  }

  private *stoppedThreads(session: SessionLines['session']): Generator<{ worker: WorkerEntry; threadId: number }> {
    const connection = this.sessions.registry.connectionOfSession(rootOf(session).id);
    for (const node of connection?.tree.root.workers() ?? []) {
      for (const { threadId } of this.filter.shows(connection, node) ? node.worker.threads : []) {
        yield { worker: node.worker, threadId };
      }
    }
  }
}

function decoration(end: vscode.Position, workers: readonly WorkerEntry[]): vscode.DecorationOptions {
  const { text, hover } = lineLabel(workers);
  return {
    range: new vscode.Range(end, end),
    renderOptions: { after: { contentText: text } },
    hoverMessage: new vscode.MarkdownString(hover),
  };
}
