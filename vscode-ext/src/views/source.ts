/** Opens the line at which a thread is stopped. */

import * as vscode from 'vscode';

/** A frame of DAP's, as far as it is read here. */
interface Frame {
  readonly line: number;
  readonly column: number;
  readonly presentationHint?: string;
  readonly source?: Source;
}

interface Source {
  readonly path?: string;
  readonly name?: string;
  readonly sourceReference?: number;
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
  const place = new vscode.Position(line - 1, Math.max(column - 1, 0));
  await vscode.window.showTextDocument(uriOf(source, session), { selection: new vscode.Range(place, place) });
}

/** Where VS Code runs beside the files and its window does not, the window has made a URI of the path on its way. */
function uriOf(source: Source, session: vscode.DebugSession): vscode.Uri {
  const { path = '', sourceReference = 0 } = source;
  return sourceReference === 0 && path.startsWith('vscode-remote:')
    ? vscode.Uri.file(vscode.Uri.parse(path).path)
    : vscode.debug.asDebugSourceUri(source, session);
}
