/** The stacks of workers, as read-only documents in which the names of files are links. */

import * as vscode from 'vscode';

import { Latest } from '../model/timers';
import type { WorkerStack } from '../protocol/messages';
import { stackLinks } from '../text/stack-links';

const SCHEME = 'raydap-stack';

/** The provider of the documents and of their links. */
export class StackDocuments
  implements vscode.TextDocumentContentProvider, vscode.DocumentLinkProvider, vscode.Disposable
{
  /** The counters of the reads of each worker's stack, by the key of the worker. */
  private readonly latest = new Map<string, Latest>();
  private readonly texts = new Map<string, string>();
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.changed.event;
  private readonly subscriptions = [
    this.changed,
    vscode.workspace.registerTextDocumentContentProvider(SCHEME, this),
    vscode.languages.registerDocumentLinkProvider({ scheme: SCHEME }, this),
    vscode.workspace.onDidCloseTextDocument((document) => this.texts.delete(document.uri.toString())),
  ];

  /** Open the stack of a worker, or update the document if it is already open. `read` is the answer of the source. */
  async show(key: string, read: Promise<WorkerStack> | undefined): Promise<void> {
    const latest = this.latest.get(key) ?? new Latest();
    this.latest.set(key, latest);
    const isLatest = latest.begin();
    const stack = await read;
    if (stack === undefined || !isLatest()) {
      return;
    }
    const name = stack.name.replaceAll('/', ' ');
    const uri = vscode.Uri.from({ scheme: SCHEME, path: `/Stack of ${name}`, query: key });
    this.texts.set(uri.toString(), stack.text);
    this.changed.fire(uri);
    await vscode.window.showTextDocument(uri, { preview: true });
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.texts.get(uri.toString()) ?? '';
  }

  provideDocumentLinks(document: vscode.TextDocument): vscode.DocumentLink[] {
    return stackLinks(document.getText()).map(({ start, end, path, line }) => {
      const range = new vscode.Range(document.positionAt(start), document.positionAt(end));
      return new vscode.DocumentLink(range, vscode.Uri.file(path).with({ fragment: `L${line}` }));
    });
  }

  dispose(): void {
    this.subscriptions.forEach((each) => {
      each.dispose();
    });
  }
}
