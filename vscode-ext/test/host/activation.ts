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
  'a window without a Python file does not activate the extension, and the first Python file does': async () => {
    assert.equal(extension().isActive, false);
    await vscode.window.showTextDocument(vscode.Uri.joinPath(folder().uri, 'square.py'));
    while (!extension().isActive) {
      await new Promise((resolve) => setImmediate(resolve));
    }
  },

  'every command of the palette is there': async () => {
    const { contributes } = extension().packageJSON as Manifest;
    const there = await vscode.commands.getCommands(true);
    const missing = contributes.commands.map(({ command }) => command).filter((command) => !there.includes(command));
    assert.deepEqual(missing, []);
  },
};
