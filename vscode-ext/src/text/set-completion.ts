/** The words with which a set of workers can continue (docs/usage/sets.md). */

import type { WorkerEntry } from '../protocol/messages';

const QUALIFIERS = ['actor', 'task', 'node', 'state', 'line', 'rank', 'pid', 'job', 'error', 'set'];

const WORDS = ['not ', 'or ', 'where ', 'all'];

/** A value that needs no quotes in a set. */
const PLAIN = /^[\w.-]+$/;

const MAX_OFFERED = 12;

/** Return whole texts of the field, each with a longer last word: a qualifier, or a value that one of the workers has. */
export function setCompletions(text: string, workers: Iterable<WorkerEntry>): string[] {
  const word = /[^\s()]*$/.exec(text)?.[0] ?? '';
  const known = new Set<string>();
  for (const { actor, task, node, state, job } of workers) {
    const values = Object.entries({ actor, task, node, state, job });
    values.filter(([, value]) => PLAIN.test(value)).forEach(([name, value]) => known.add(`${name}:${value}`));
  }
  const actors = [...known].filter((each) => each.startsWith('actor:')).sort();
  const words = word.includes(':') ? [...known].sort() : [...actors, ...QUALIFIERS.map((name) => `${name}:`), ...WORDS];
  const before = text.slice(0, text.length - word.length);
  const longer = words.filter((each) => each.startsWith(word) && each !== word);
  return longer.slice(0, MAX_OFFERED).map((each) => before + each);
}

/** Return whole texts of a field whose last word continues with each of these names. */
export function withNames(text: string, names: readonly string[]): string[] {
  const before = text.replace(/\w*$/, '');
  return [...new Set(names.map((name) => before + name))].filter((each) => each !== text).slice(0, MAX_OFFERED);
}

/** Return the beginning of an expression at the end of a set, after `where`; undefined without one. */
export function expressionOf(set: string): string | undefined {
  return /(?:^|[\s(])where\s+(.*)$/.exec(set)?.[1];
}
