/** Tests: when the extension is activated, and which commands exist then. */

import assert from 'node:assert/strict';

import * as vscode from 'vscode';

import { folder } from './session';

interface Manifest {
  readonly contributes: { readonly commands: readonly { readonly command: string }[] };
}

function extension(): vscode.Extension<unknown> {
  const found = vscode.extensions.getExtension('raydap.raydap');
  assert.ok(found !== undefined);
  return found;
}

export const activation = {
  'a Python file that is only read activates nothing': async () => {
    await vscode.window.showTextDocument(vscode.Uri.joinPath(folder().uri, 'square.py'));
    assert.equal(extension().isActive, false);
  },

  'the first command activates': async () => {
    await vscode.commands.executeCommand('raydap.showLog');
    assert.equal(extension().isActive, true);
  },

  'every command of the palette is there': async () => {
    const { contributes } = extension().packageJSON as Manifest;
    const there = await vscode.commands.getCommands(true);
    const missing = contributes.commands.map(({ command }) => command).filter((command) => !there.includes(command));
    assert.deepEqual(missing, []);
  },
};
