/** Tests: how a configuration is completed before the bridge receives it. */

import assert from 'node:assert/strict';

import * as vscode from 'vscode';

import { folder, look } from './session';
import { answering } from './user';

const ATTACH = { type: 'raydap', request: 'attach', name: 'Ray' };

export const configurations = {
  'what is not said comes from the settings and the open folder': async () => {
    const { configuration } = await look(ATTACH);
    assert.equal(configuration.dashboard, process.env.RAYDAP_TEST_DASHBOARD);
    assert.equal(configuration.workspaceFolder, folder().uri.fsPath);
  },

  'variables are replaced, and what is said counts': async () => {
    const { configuration } = await look({
      ...ATTACH,
      dashboard: '${env:RAYDAP_TEST_DASHBOARD}',
      workspaceFolder: '${workspaceFolder}/below',
      actor: '${workspaceFolderBasename}*',
    });
    assert.equal(configuration.dashboard, process.env.RAYDAP_TEST_DASHBOARD);
    assert.equal(configuration.workspaceFolder, `${folder().uri.fsPath}/below`);
    assert.equal(configuration.actor, 'project*');
  },

  'a hub that is none is refused before anything starts': async () => {
    const question = { asked: 'showErrorMessage', about: /not with http:/, answer: 'no button' } as const;
    const started = await answering([question], async () =>
      vscode.debug.startDebugging(folder(), { ...ATTACH, hub: 'http://127.0.0.1:1/dap' }),
    );
    assert.equal(started, false);
  },
};
