/** Getting started: the example project, and VS Code's walkthrough of it. */

import * as vscode from 'vscode';

import { DEBUG_FILE } from '../model/configuration';

/** The walkthrough's id in package.json, after that of the extension. */
const WALKTHROUGH = 'raydap.raydap#start';
const FOLDER = 'raydap-example';
const PROGRAM = 'trainer.py';

/** The key of the example's folder. The folder is stored, because VS Code ends this extension host to open it. */
const OPENING_KEY = 'raydap.example';

export class Walkthrough {
  readonly commands = {
    openWalkthrough: () => show({ beside: false }),
    openExample: () => this.openExample(),
    debugExample: () => this.debugExample(),
  };

  constructor(private readonly context: vscode.ExtensionContext) {}

  /** Shows the program and the walkthrough in the new window of an example that was opened a moment ago. */
  async resume(): Promise<void> {
    const { globalState } = this.context;
    const [folder] = vscode.workspace.workspaceFolders ?? [];
    if (folder !== undefined && globalState.get(OPENING_KEY) === folder.uri.toString()) {
      await globalState.update(OPENING_KEY, undefined);
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
    await this.context.globalState.update(OPENING_KEY, folder.toString());
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

/** Opens the walkthrough. Beside an editor it has no room for its pictures. */
async function show({ beside }: { beside: boolean }): Promise<void> {
  await vscode.commands.executeCommand('workbench.action.openWalkthrough', WALKTHROUGH, beside);
}

async function exists(uri: vscode.Uri): Promise<boolean> {
  try {
    await vscode.workspace.fs.stat(uri);
    return true;
  } catch {
    return false;
  }
}
