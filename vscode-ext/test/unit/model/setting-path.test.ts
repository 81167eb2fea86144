import assert from 'node:assert/strict';
import { test } from 'node:test';

import { resolvedPath } from '../../../src/model/setting-path';

const VARIABLES = {
  home: '/home/me',
  environment: { VENV: '/venvs/ray' },
  folder: '/work/job',
  folders: new Map([['lib', '/work/lib']]),
};

test('variables and the home folder are replaced', () => {
  const paths = {
    '~/.venv/bin/python': '/home/me/.venv/bin/python',
    '~': '/home/me',
    '${userHome}/python': '/home/me/python',
    '${env:VENV}/bin/python': '/venvs/ray/bin/python',
    '${workspaceFolder}/.venv/bin/python': '/work/job/.venv/bin/python',
    '${workspaceFolder:lib}/bin/python': '/work/lib/bin/python',
    ' python3 ': 'python3',
    '/a~b/~/python': '/a~b/~/python',
    '': '',
  };
  for (const [text, path] of Object.entries(paths)) {
    assert.deepEqual(resolvedPath(text, VARIABLES), { path }, text);
  }
});

test('a variable without a value is reported as the reason', () => {
  const reasons = {
    '${env:CONDA_PREFIX}/bin/python': /environment variable CONDA_PREFIX is not set/,
    '${workspaceFolder:gone}/bin/python': /no open folder for \$\{workspaceFolder:gone\}/,
    '${config:python}': /can contain .*, but not \$\{config:python\}/,
  };
  for (const [text, reason] of Object.entries(reasons)) {
    const resolved = resolvedPath(text, VARIABLES);
    assert.ok('reason' in resolved && reason.test(resolved.reason), text);
  }
  assert.ok('reason' in resolvedPath('${workspaceFolder}/python', { ...VARIABLES, folder: undefined }));
});
