/** Tests: programs that the extension starts run from their first line to their last. */

import assert from 'node:assert/strict';

import { run } from './session';

const LAUNCH = { type: 'raydap', request: 'launch', name: 'Square', program: '${workspaceFolder}/square.py' };

/** Run square.py with these changes of the configuration, and check its result. */
async function squares(more: object = {}): Promise<void> {
  const { output, exitCode, stops } = await run({ ...LAUNCH, ...more });
  // A worker's output without a line break may precede it on the same line.
  assert.match(output, /result: 49$/m);
  assert.deepEqual({ exitCode, stops }, { exitCode: 0, stops: 1 });
}

export const programs = {
  'a program is launched, stops, goes on and ends': async () => squares(),
  'a program is submitted, stops, goes on and ends': async () =>
    squares({ submit: true, python: process.env.RAYDAP_TEST_PYTHON }),
};
