/** The variable `${command:pickArgs}` of launch.json. */

import * as vscode from 'vscode';

const KEY = 'arguments';

/** Let the user enter the arguments of the program, starting from the last ones. Return undefined to cancel the start. */
export async function pickArgs(memory: vscode.Memento): Promise<string | undefined> {
  const entered = await vscode.window.showInputBox({
    title: 'Arguments of the Program',
    prompt: 'They are split like a line of a shell.',
    value: memory.get(KEY, ''),
    ignoreFocusOut: true,
  });
  if (entered !== undefined) {
    await memory.update(KEY, entered);
  }
  return entered;
}
