import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';

import type { DebugAdapterTracker, DebugSession } from 'vscode';

import { BreakpointReasons } from '../../../src/debug/breakpoint-reasons';
import { Position, Range, resetVscode, Uri, window } from '../fake-vscode';

/** An editor with 20 lines, and the texts that were shown last at the ends of its lines. */
class Editor {
  shown: string[] = [];
  private resolve: () => void = () => undefined;
  readonly document = {
    uri: Uri.file('/app/train.py'),
    lineCount: 20,
    lineAt: (line: number) => ({ range: new Range(new Position(line, 0), new Position(line, 9)) }),
  };

  setDecorations(
    _: unknown,
    options: { readonly range: Range; readonly renderOptions: { after: { contentText: string } } }[],
  ): void {
    this.shown = options.map(({ range, renderOptions }) => `${range.end.line + 1} ${renderOptions.after.contentText}`);
    this.resolve();
  }

  /** Wait for the next update. */
  async updated(): Promise<string[]> {
    await new Promise<void>((resolve) => (this.resolve = resolve));
    return this.shown;
  }
}

const source = { path: '/app/train.py' };

/** Let the session set breakpoints of train.py, and answer with these. */
function set(tracker: DebugAdapterTracker, seq: number, ...breakpoints: readonly object[]): void {
  tracker.onWillReceiveMessage?.({ type: 'request', command: 'setBreakpoints', seq, arguments: { source } });
  tracker.onDidSendMessage?.({ type: 'response', request_seq: seq, success: true, body: { breakpoints } });
}

beforeEach(resetVscode);

test('a breakpoint that is not set says why at its line, until a worker has set it', async () => {
  const editor = new Editor();
  window.visibleTextEditors = [editor];
  const reasons = new BreakpointReasons();
  const tracker = reasons.createDebugAdapterTracker({ id: 'one' } as DebugSession);
  const waiting = { id: 1, verified: false, line: 5, message: 'No worker has set it.' };
  set(
    tracker,
    7,
    waiting,
    { id: 2, verified: true, line: 6, message: 'Set in 1 of 2.' },
    { ...waiting, id: 3, line: 99 },
  );
  assert.deepEqual(await editor.updated(), ['5 No worker has set it.']);
  const refused = { ...waiting, source, message: 'The line has no code.' };
  tracker.onDidSendMessage?.({ type: 'event', event: 'breakpoint', body: { reason: 'changed', breakpoint: refused } });
  assert.deepEqual(await editor.updated(), ['5 The line has no code.']);
  const verified = { id: 1, verified: true, line: 5, source };
  tracker.onDidSendMessage?.({ type: 'event', event: 'breakpoint', body: { reason: 'changed', breakpoint: verified } });
  assert.deepEqual(await editor.updated(), []);
  set(tracker, 8, waiting);
  assert.deepEqual(await editor.updated(), ['5 No worker has set it.']);
  set(tracker, 9);
  assert.deepEqual(await editor.updated(), []);
  set(tracker, 10, waiting);
  await editor.updated();
  tracker.onWillStopSession?.();
  assert.deepEqual(await editor.updated(), []);
  reasons.dispose();
});
