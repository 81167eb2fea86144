/**
 * The picture of all stacks, in an editor. Each frame is below its caller, and its width shows its number of threads.
 */

import { randomBytes } from 'node:crypto';

import * as vscode from 'vscode';

import type { ClusterConnection } from '../model/cluster-connection';
import { Latest } from '../model/timers';
import { picturePage } from '../text/picture-page';

/** The panel that shows the picture. */
export class StackPicture implements vscode.Disposable {
  private readonly latest = new Latest();
  private panel: vscode.WebviewPanel | undefined;

  /** `extension` is the folder of the extension. */
  constructor(private readonly extension: vscode.Uri) {}

  /** Request the picture of a cluster and show it, unless a later call has already begun. */
  async show(connection: ClusterConnection): Promise<void> {
    const isLatest = this.latest.begin();
    const { export: svg = '' } = await connection.request('raydap/stacks', { export: 'svg' });
    if (!isLatest()) {
      return;
    }
    const pages = vscode.Uri.joinPath(this.extension, 'dist', 'pages');
    this.panel ??= this.open(pages);
    this.panel.reveal(undefined, true);
    const script = this.panel.webview.asWebviewUri(vscode.Uri.joinPath(pages, 'picture.js'));
    this.panel.webview.html = picturePage(svg, randomBytes(16).toString('hex'), script.toString());
  }

  dispose(): void {
    this.panel?.dispose();
  }

  private open(pages: vscode.Uri): vscode.WebviewPanel {
    const options = { enableScripts: true, localResourceRoots: [pages] };
    const panel = vscode.window.createWebviewPanel('raydap.picture', 'Stacks', vscode.ViewColumn.Active, options);
    panel.onDidDispose(() => {
      this.panel = undefined;
    });
    return panel;
  }
}
