/** Why a breakpoint is not set in its workers, at the end of its line. VS Code shows this only as a tooltip. */

import * as vscode from 'vscode';

import { Throttle } from '../model/timers';

/** The time between a change and the update. Each worker that starts sets the breakpoints. */
const UPDATE_INTERVAL_MS = 250;

/** A breakpoint in a message of raydap (spec: Breakpoint). */
interface Breakpoint {
  readonly id: number;
  readonly verified: boolean;
  readonly line?: number;
  readonly message?: string;
  readonly source?: { readonly path?: string };
}

/** The fields of a DAP message that are read here. */
interface Message {
  readonly command?: string;
  readonly event?: string;
  readonly seq?: number;
  readonly request_seq?: number;
  readonly arguments?: { readonly source?: { readonly path?: string } };
  readonly body?: {
    readonly reason?: string;
    readonly breakpoint?: Breakpoint;
    readonly breakpoints?: readonly Breakpoint[];
  };
}

/** The trackers that record the breakpoints of each session, and the decorations in all visible editors. */
export class BreakpointReasons implements vscode.DebugAdapterTrackerFactory, vscode.Disposable {
  /** The breakpoints of each session, by their ids. */
  private readonly sessions = new Map<string, Map<number, Breakpoint>>();
  private readonly type = vscode.window.createTextEditorDecorationType({
    after: { color: new vscode.ThemeColor('editorCodeLens.foreground'), fontStyle: 'italic', margin: '0 0 0 2em' },
  });
  private readonly throttle = new Throttle(() => this.show(), UPDATE_INTERVAL_MS);
  private readonly subscription = vscode.window.onDidChangeVisibleTextEditors(() => this.throttle.call());

  createDebugAdapterTracker(session: vscode.DebugSession): vscode.DebugAdapterTracker {
    const known = new Map<number, Breakpoint>();
    /** The path of each request without an answer, by its `seq`. */
    const asked = new Map<number, string>();
    this.sessions.set(session.id, known);
    return {
      onWillReceiveMessage: ({ command, seq = NaN, arguments: given }: Message) => {
        if (command === 'setBreakpoints') {
          asked.set(seq, given?.source?.path ?? '');
        }
      },
      onDidSendMessage: ({ event, request_seq: seq = NaN, body }: Message) => {
        const path = asked.get(seq);
        const { breakpoint, reason } = body ?? {};
        if (path !== undefined) {
          asked.delete(seq);
          [...known.values()].filter(({ source }) => source?.path === path).forEach(({ id }) => known.delete(id));
          body?.breakpoints?.forEach((each) => known.set(each.id, { ...each, source: { path } }));
        } else if (event === 'breakpoint' && breakpoint !== undefined && reason === 'removed') {
          known.delete(breakpoint.id);
        } else if (event === 'breakpoint' && breakpoint !== undefined) {
          known.set(breakpoint.id, { ...known.get(breakpoint.id), ...breakpoint });
        } else {
          return;
        }
        this.throttle.call();
      },
      onWillStopSession: () => this.forget(session.id),
      onExit: () => this.forget(session.id),
    };
  }

  dispose(): void {
    vscode.Disposable.from(this.subscription, this.throttle, this.type).dispose();
  }

  private forget(id: string): void {
    this.sessions.delete(id);
    this.throttle.call();
  }

  private show(): void {
    const unset = [...this.sessions.values()].flatMap((known) => [...known.values()]);
    for (const editor of vscode.window.visibleTextEditors) {
      const { document } = editor;
      const here = unset.filter(({ verified, source }) => !verified && source?.path === document.uri.fsPath);
      const reasons = new Map(here.map(({ line = 0, message = '' }) => [line, message]));
      const lines = [...reasons].filter(([line, reason]) => line >= 1 && line <= document.lineCount && reason !== '');
      editor.setDecorations(
        this.type,
        lines.map(([line, reason]) => decoration(document.lineAt(line - 1).range.end, reason)),
      );
    }
  }
}

function decoration(end: vscode.Position, reason: string): vscode.DecorationOptions {
  // The text may come from a worker, so the tooltip has it as text, and its only link is in another paragraph.
  const hover = new vscode.MarkdownString()
    .appendText(reason)
    .appendMarkdown('\n\n[Run Doctor](command:raydap.runDoctor)');
  hover.isTrusted = { enabledCommands: ['raydap.runDoctor'] };
  const range = new vscode.Range(end, end);
  return { range, renderOptions: { after: { contentText: reason } }, hoverMessage: hover };
}
