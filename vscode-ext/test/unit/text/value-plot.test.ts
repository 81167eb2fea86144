import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { Comparison } from '../../../src/protocol/messages';
import { stepOf, valuePlot, withStep, type Step } from '../../../src/text/value-plot';

/** Return the comparison of these numbers, each in a thread of its own. */
function comparison(...values: readonly string[]): Comparison {
  const groups = values.map((value, id) => ({ members: [id], label: '', value, partial: false }));
  const statistics = { min: 1, max: 3, mean: 2, std: 0, nan: 0, inf: 0 };
  return { groups, silent: [], statistics };
}

const named = new Map([0, 1].map((id) => [id, `<Trainer ${id}>`]));

test('each worker has a line over the stops, and its name is never interpreted as HTML', () => {
  const steps = [comparison('1', '2'), comparison('2', 'nan'), comparison('3', '1')].map((each) => stepOf(each, named));
  const { text } = valuePlot(steps as Step[]);
  assert.deepEqual(
    [...text.matchAll(/points="([^"]*)"/g)].map(([, points]) => points),
    ['0.0,120.0 210.0,60.0 420.0,0.0', '0.0,60.0 420.0,120.0'],
  );
  assert.match(text, /3 stops, from 1 to 3: &#60;Trainer 0&#62;, &#60;Trainer 1&#62;/);
  assert.doesNotMatch(text, /<Trainer/);
});

test('many workers have three lines', () => {
  const step = stepOf(comparison(...Array.from({ length: 500 }, (_, index) => String(index))), named);
  assert.deepEqual(
    [...(step ?? [])],
    [
      ['lowest', 1],
      ['mean', 2],
      ['highest', 3],
    ],
  );
});

test('values that are not numbers, and one stop, have no plot', () => {
  assert.equal(stepOf({ groups: [], silent: [] }, named), undefined);
  assert.equal(valuePlot([new Map([['a', 1]])]).text, '');
});

test('a comparison without a movement replaces the last one', () => {
  const [one, other] = [new Map([['a', 1]]), new Map([['a', 2]])];
  assert.deepEqual(withStep([one], other, false), [other]);
  assert.deepEqual(withStep([one], other, true), [one, other]);
  assert.equal(
    withStep(
      Array.from({ length: 300 }, () => one),
      other,
      true,
    ).length,
    200,
  );
});
