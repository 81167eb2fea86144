import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import {
  hush,
  isFailedStart,
  isListing,
  LABELS,
  ofExit,
  ofFailure,
  ofInstall,
  ofInterpreter,
  silence,
  type Failure,
} from '../../src/bridge/problems';

function failure(id: number | undefined, text: string): Failure {
  const error = id === undefined ? { format: text } : { id, format: text };
  return { type: 'response', success: false, command: 'attach', message: text, body: { error } };
}

const offered = [1007, 1011, 2001, 2002, 2003, 2004, 2005, 5001, 5002];

test('each error with a next step offers it, in the words of raydap', () => {
  for (const number of offered) {
    const text = `What happened. [raydap ${number}]`;
    const problem = ofFailure(failure(number, text));
    assert.equal(problem?.text, text);
    assert.ok(problem.steps.length > 0);
  }
});

test('these numbers are documented errors', () => {
  const documented = readFileSync('../docs/errors.md', 'utf8');
  for (const number of offered) {
    assert.match(documented, new RegExp(`^\\| ${number} \\|`, 'm'));
  }
});

test('the number is found in the text if the body has none', () => {
  assert.deepEqual(ofFailure(failure(undefined, 'No cluster. [raydap 2001]'))?.steps, ['changeDashboard', 'showLog']);
});

test('tokens are asked for where they belong', () => {
  assert.deepEqual(ofFailure(failure(2005, 'Refused.'))?.steps, ['enterClusterToken']);
  assert.deepEqual(ofFailure(failure(5002, 'Refused.'))?.steps, ['enterHubToken']);
});

test('other errors are left to VS Code', () => {
  assert.equal(ofFailure(failure(1004, 'The argument "job" is wrong. [raydap 1004]')), undefined);
  assert.equal(ofFailure({ type: 'response', success: false, command: 'attach' }), undefined);
});

test('only the requests that start a session count', () => {
  assert.ok(isFailedStart(failure(2001, '')));
  assert.ok(!isFailedStart({ ...failure(2001, ''), command: 'evaluate' }));
  assert.ok(!isFailedStart({ ...failure(2001, ''), success: true }));
  assert.ok(!isFailedStart({ type: 'event', event: 'output' }));
});

test('a silenced failure keeps its words and number', () => {
  const failed = failure(2002, 'The dashboard cannot be reached. [raydap 2002]');
  silence(failed);
  assert.deepEqual(failed.body?.error, {
    id: 2002,
    format: 'The dashboard cannot be reached. [raydap 2002]',
    showUser: false,
  });
});

test('a silenced configurationDone is a success, because VS Code would show it in any case', () => {
  const failed = { ...failure(1003, 'Too early.'), command: 'configurationDone' };
  silence(failed);
  assert.ok(failed.success);
});

test('an interpreter that is ready is no problem', () => {
  assert.equal(ofInterpreter({ kind: 'ready', python: 'python3', version: '3.11.7' }), undefined);
});

test('raydap is missing: it can be installed, by a button or by hand', () => {
  const problem = ofInterpreter({ kind: 'lacksRaydap', python: '/venv/bin/python', version: '3.11.7' });
  assert.equal(problem?.text, 'raydap is not installed in Python 3.11.7 (/venv/bin/python).');
  assert.deepEqual(
    problem.steps.map((step) => LABELS[step]),
    ['Install raydap', 'Copy command', 'Choose interpreter'],
  );
});

test('pip that fails is told of, with what else can be done', () => {
  assert.equal(ofInstall(1).text, 'pip ended with code 1, and raydap is not installed; the terminal says why.');
  assert.match(ofInstall(undefined).text, /^pip was ended, and raydap is not installed/);
  assert.deepEqual(ofInstall(1).steps, ['copyInstall', 'chooseInterpreter']);
});

test('raydap is there, but broken: installing it again may repair it', () => {
  const finding = { kind: 'brokenRaydap', python: 'python3', version: '3.11.7', reason: 'No module named x' } as const;
  const problem = ofInterpreter(finding);
  assert.equal(problem?.text, 'raydap cannot be run in Python 3.11.7 (python3): No module named x.');
  assert.deepEqual(problem.steps, ['install', 'chooseInterpreter']);
});

test('a bridge that ends before it answers is a problem, unless it was meant to', () => {
  assert.equal(ofExit(0), undefined);
  assert.equal(ofExit(2)?.text, 'raydap ended with code 2 before the session began.');
  assert.equal(ofExit(undefined)?.text, 'raydap was ended before the session began.');
});

test('a Python that is too old or broken: another one has to be chosen', () => {
  const old = ofInterpreter({ kind: 'tooOld', python: 'python3', version: '3.9.2' });
  assert.equal(old?.text, 'raydap needs Python 3.10 or newer; python3 is 3.9.2.');
  assert.deepEqual(old.steps, ['chooseInterpreter']);
  const broken = ofInterpreter({ kind: 'broken', python: '/gone', reason: 'it does not exist' });
  assert.equal(broken?.text, 'The Python interpreter /gone cannot be run: it does not exist.');
  assert.deepEqual(broken.steps, ['chooseInterpreter']);
});

test('the Ray view hears of workers when they are listed', () => {
  const listing = { type: 'response', command: 'raydap/workers', success: true };
  assert.ok(isListing(listing));
  assert.ok(!isListing({ ...listing, success: false }));
  assert.ok(!isListing({ ...listing, command: 'threads' }));
  assert.ok(!isListing({ type: 'event', event: 'raydap/workersChanged' }));
});

test('that workers are lost is told once, by the Ray view', () => {
  const told = (output: string): string => {
    const message = { type: 'event', event: 'output', body: { category: 'important', output } };
    hush(message);
    return message.body.category;
  };
  assert.equal(told('The stopped worker 1 on a is gone (its process has ended). [raydap 3003]\n'), 'console');
  assert.equal(told('The debugger of the stopped worker 1 on a is lost. [raydap 3003]\n'), 'console');
  assert.equal(told('The dashboard does not answer. [raydap 2002]\n'), 'important');
});
