/** Getting started: the example project, and the page that leads through it. */

import * as vscode from 'vscode';

import { DEBUG_FILE } from './bridge/configuration';

/** Of package.json, with the extension's id before it. */
const PAGE = 'raydap.raydap#start';
const FOLDER = 'raydap-example';
const PROGRAM = 'trainer.py';

/** Where the folder is remembered while VS Code opens it, which ends this extension host. */
const OPENING = 'raydap.example';

export class Walkthrough {
  readonly commands = {
    openWalkthrough: () => show({ beside: false }),
    openExample: () => this.openExample(),
    debugExample: () => this.debugExample(),
  };

  constructor(private readonly context: vscode.ExtensionContext) {}

  /** Shows program and page again in the window of an example that was opened a moment ago. */
  async resume(): Promise<void> {
    const { globalState } = this.context;
    const [folder] = vscode.workspace.workspaceFolders ?? [];
    if (folder !== undefined && globalState.get(OPENING) === folder.uri.toString()) {
      await globalState.update(OPENING, undefined);
      await vscode.window.showTextDocument(vscode.Uri.joinPath(folder.uri, PROGRAM), { preview: false });
      await show({ beside: true });
    }
  }

  private async openExample(): Promise<void> {
    const [parent] =
      (await vscode.window.showOpenDialog({
        title: `Folder for ${FOLDER}`,
        openLabel: 'Put It Here',
        canSelectFiles: false,
        canSelectFolders: true,
      })) ?? [];
    if (parent === undefined) {
      return;
    }
    const folder = vscode.Uri.joinPath(parent, FOLDER);
    if (!(await exists(folder))) {
      const bundled = vscode.Uri.joinPath(this.context.extensionUri, 'dist', 'example');
      await vscode.workspace.fs.copy(bundled, folder);
    }
    await this.context.globalState.update(OPENING, folder.toString());
    await vscode.commands.executeCommand('vscode.openFolder', folder, { forceReuseWindow: true });
  }

  private async debugExample(): Promise<void> {
    const [program] = await vscode.workspace.findFiles(PROGRAM, undefined, 1);
    if (program === undefined) {
      const open = 'Open Example Project';
      const text = `There is no ${PROGRAM} in this window: it is part of the example project.`;
      if ((await vscode.window.showInformationMessage(text, open)) === open) {
        await this.openExample();
      }
      return;
    }
    await vscode.window.showTextDocument(program, { preview: false, viewColumn: vscode.ViewColumn.One });
    const configuration = { ...DEBUG_FILE, program: program.fsPath };
    await vscode.debug.startDebugging(vscode.workspace.getWorkspaceFolder(program), configuration);
  }
}

/** Its pictures are shown only where it is wide. */
async function show({ beside }: { beside: boolean }): Promise<void> {
  await vscode.commands.executeCommand('workbench.action.openWalkthrough', PAGE, beside);
}

async function exists(uri: vscode.Uri): Promise<boolean> {
  try {
    await vscode.workspace.fs.stat(uri);
    return true;
  } catch {
    return false;
  }
}
