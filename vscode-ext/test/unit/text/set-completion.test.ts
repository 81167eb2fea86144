import assert from 'node:assert/strict';
import { test } from 'node:test';

import { expressionOf, setCompletions, withNames } from '../../../src/text/set-completion';
import { worker } from '../example';

const WORKERS = [
  { ...worker(1), actor: 'Trainer', task: 'Trainer.update', node: '10.0.0.7' },
  { ...worker(2), actor: 'Rollout', task: 'driver train.py', node: '10.0.0.8' },
];

test('the last word of a set continues with qualifiers, actors and words', () => {
  const offered = setCompletions('not ra', WORKERS);
  assert.deepEqual(offered, ['not rank:']);
  assert.deepEqual(setCompletions('(a', WORKERS), ['(actor:Rollout', '(actor:Trainer', '(actor:', '(all']);
});

test('a qualifier continues with the values of the workers that need no quotes', () => {
  assert.deepEqual(setCompletions('rank:0 node:', WORKERS), ['rank:0 node:10.0.0.7', 'rank:0 node:10.0.0.8']);
  assert.deepEqual(setCompletions('task:', WORKERS), ['task:Trainer.update']);
  assert.deepEqual(setCompletions('node:10.0.0.7', WORKERS), []);
});

test('an expression follows `where`', () => {
  assert.equal(expressionOf('actor:Trainer where loss.it'), 'loss.it');
  assert.equal(expressionOf('where '), '');
  assert.equal(expressionOf('actor:where'), undefined);
});

test('a name replaces the last word', () => {
  assert.deepEqual(withNames('where loss.it', ['item', 'items', 'item']), ['where loss.item', 'where loss.items']);
  assert.deepEqual(withNames('x', ['x']), []);
});
