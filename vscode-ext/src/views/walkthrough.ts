/** The example project for new users, and VS Code's walkthrough of it. */

import * as vscode from 'vscode';

import { DEBUG_FILE } from '../model/configuration';

/** The id of the extension, and after `#` the id of the walkthrough in package.json. */
const WALKTHROUGH = 'raydap.raydap#start';
const FOLDER = 'raydap-example';
const PROGRAM = 'trainer.py';

/** The key of the stored example folder. It is stored, because VS Code ends this extension host to open the folder. */
const OPENING_KEY = 'raydap.example';

/** The commands that open the walkthrough and the example project. */
export class Walkthrough {
  readonly commands = {
    openWalkthrough: () => show({ beside: false }),
    openExample: () => this.openExample(),
    debugExample: () => this.debugExample(),
  };

  constructor(private readonly context: vscode.ExtensionContext) {}

  /** Show the program and the walkthrough if this window was just opened for the example. */
  async resume(): Promise<void> {
    const { globalState } = this.context;
    const [folder] = vscode.workspace.workspaceFolders ?? [];
    if (folder !== undefined && globalState.get(OPENING_KEY) === folder.uri.toString()) {
      await globalState.update(OPENING_KEY, undefined);
      await vscode.window.showTextDocument(vscode.Uri.joinPath(folder.uri, PROGRAM), { preview: false });
      await show({ beside: true });
    }
  }

  /** Copy the example into a folder that the user chooses, and open it in this window. */
  private async openExample(): Promise<void> {
    const [parent] =
      (await vscode.window.showOpenDialog({
        title: `Folder for ${FOLDER}`,
        openLabel: 'Copy the Example Here',
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
      const text = `This window has no ${PROGRAM}. Open the example project first.`;
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

/** Open the walkthrough. If it is `beside` an editor, it has no room for its pictures. */
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
