/** Opens the line at which a thread is stopped. */

import * as vscode from 'vscode';

/** A frame of DAP's, as far as it is read here. */
interface Frame {
  readonly line: number;
  readonly column: number;
  readonly presentationHint?: string;
  readonly source?: { readonly path?: string; readonly name?: string; readonly sourceReference?: number };
}

/** Ray's and debugpy's own frames stand above the user's. */
const LEVELS = 20;

export async function goToSource(session: vscode.DebugSession, threadId: number): Promise<void> {
  const { stackFrames } = (await session.customRequest('stackTrace', { threadId, startFrame: 0, levels: LEVELS })) as {
    stackFrames: readonly Frame[];
  };
  const frame = stackFrames.find(
    ({ presentationHint, source }) => presentationHint !== 'subtle' && source !== undefined,
  );
  if (frame?.source === undefined) {
    void vscode.window.showInformationMessage('No line of yours is on its stack.');
    return;
  }
  const { source, line, column } = frame;
  const uri = vscode.debug.asDebugSourceUri(source, session);
  const place = new vscode.Position(line - 1, Math.max(column - 1, 0));
  await vscode.window.showTextDocument(uri, { selection: new vscode.Range(place, place) });
}
