import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import { errorCode, type Failure } from '../../../src/protocol/dap';
import { ErrorCode } from '../../../src/protocol/error-codes';
import {
  ACTION_LABELS,
  problemOfExit,
  problemOfInstall,
  problemOfInterpreter,
  problemOfRequest,
  problemOfStart,
} from '../../../src/text/problems';
import { failure } from '../example';

const offered = Object.values(ErrorCode).filter((code) => code !== ErrorCode.WORKER_GONE);

test('each error with an action has its button, and keeps the text of raydap', () => {
  for (const code of offered) {
    const text = `What happened. [raydap ${code}]`;
    const problem = problemOfStart(failure(code, text));
    assert.equal(problem?.text, text);
    assert.ok(problem.actions.length > 0);
  }
});

test('the error numbers with actions are documented', () => {
  const documented = readFileSync('../docs/errors.md', 'utf8');
  for (const code of Object.values(ErrorCode)) {
    assert.match(documented, new RegExp(`^\\| ${code} \\|`, 'm'));
  }
});

test('the error number is read from the body, not from the text', () => {
  const text = 'No cluster. [raydap 2001]';
  assert.equal(errorCode(failure(undefined, text)), undefined);
  assert.equal(problemOfStart(failure(undefined, text)), undefined);
});

test('a failed request of the extension offers at least the log', () => {
  assert.deepEqual(problemOfRequest(failure(1006, 'It is gone.')), { text: 'It is gone.', actions: ['showLog'] });
  assert.deepEqual(problemOfRequest(failure(5001, 'No hub.')).actions, ['changeHub']);
  const bare: Failure = { type: 'response', success: false, command: 'raydap/step' };
  assert.equal(problemOfRequest(bare).text, 'raydap refused the request raydap/step and gave no reason.');
});

test('a refused token of a cluster or a hub leads to its own input box', () => {
  assert.deepEqual(problemOfStart(failure(2005, 'Refused.'))?.actions, ['enterClusterToken']);
  assert.deepEqual(problemOfStart(failure(5002, 'Refused.'))?.actions, ['enterHubToken']);
});

test('an ambiguous cluster leads to the input box for its address', () => {
  const text = 'You run 2 Ray clusters on this machine; name the one to debug: ... [raydap 2008]';
  assert.deepEqual(problemOfStart(failure(2008, text)), { text, actions: ['changeDashboard'] });
});

test('VS Code itself shows other errors', () => {
  assert.equal(problemOfStart(failure(1004, 'The argument "job" is wrong. [raydap 1004]')), undefined);
  assert.equal(problemOfStart({ type: 'response', success: false, command: 'attach' }), undefined);
});

test('a ready interpreter is not a problem', () => {
  assert.equal(problemOfInterpreter({ kind: 'ready', python: 'python3', version: '3.11.7' }), undefined);
});

test('a missing raydap can be installed by a button or by a copied command', () => {
  const problem = problemOfInterpreter({ kind: 'lacksRaydap', python: '/venv/bin/python', version: '3.11.7' });
  assert.equal(problem?.text, 'raydap is not installed in Python 3.11.7 (/venv/bin/python).');
  assert.deepEqual(
    problem.actions.map((action) => ACTION_LABELS[action]),
    ['Install raydap', 'Copy command', 'Choose interpreter'],
  );
});

test('a failed pip is a problem with other actions', () => {
  assert.equal(
    problemOfInstall(1).text,
    'pip exited with code 1, so raydap is not installed. The terminal shows the reason.',
  );
  assert.match(problemOfInstall(undefined).text, /^pip was terminated, so raydap is not installed/);
  assert.deepEqual(problemOfInstall(1).actions, ['copyInstall', 'chooseInterpreter']);
});

test('a broken raydap can be installed again', () => {
  const finding = { kind: 'brokenRaydap', python: 'python3', version: '3.11.7', reason: 'No module named x' } as const;
  const problem = problemOfInterpreter(finding);
  assert.equal(problem?.text, 'raydap cannot be run in Python 3.11.7 (python3): No module named x.');
  assert.deepEqual(problem.actions, ['install', 'chooseInterpreter']);
});

test('a raydap that ends before it answers is a problem, unless it exits with code 0', () => {
  assert.equal(problemOfExit(0), undefined);
  assert.equal(problemOfExit(2)?.text, 'raydap exited with code 2 before the session started.');
  assert.equal(problemOfExit(undefined)?.text, 'raydap was terminated before the session started.');
});

test('for a Python that is too old or broken, the only action is to choose another', () => {
  const old = problemOfInterpreter({ kind: 'tooOld', python: 'python3', version: '3.9.2' });
  assert.equal(old?.text, 'raydap needs Python 3.10 or newer, but python3 is Python 3.9.2.');
  assert.deepEqual(old.actions, ['chooseInterpreter']);
  const broken = problemOfInterpreter({ kind: 'broken', python: '/gone', reason: 'it does not exist' });
  assert.equal(broken?.text, 'The Python interpreter /gone cannot be run: it does not exist.');
  assert.deepEqual(broken.actions, ['chooseInterpreter']);
});
