/** The values of one expression in many workers, side by side. */

import type { Evaluation } from '../protocol/messages';

export interface Line {
  readonly name: string;
  /** The value or the error. */
  readonly text: string;
  readonly type: string;
  readonly kind: 'usual' | 'different' | 'error';
}

export interface Comparison {
  readonly expression: string;
  /** How often there is each value, the most frequent one first: "23 × 0.5, 1 × nan". */
  readonly summary: string;
  readonly lines: readonly Line[];
}

const MAX_LISTED = 6;
/** The summary cuts longer values: a tensor may fill pages. */
const MAX_LENGTH = 40;

/** A value is usual if it is the single most frequent one. If there is no such value, all are different. */
export function compare(expression: string, results: readonly Evaluation[]): Comparison {
  const counts = new Map<string, number>();
  for (const { value } of results) {
    if (value !== undefined) {
      counts.set(value, (counts.get(value) ?? 0) + 1);
    }
  }
  const frequent = [...counts].sort(([, one], [, other]) => other - one);
  const usual = usualOf(frequent);
  const lines = results.map(({ name, value, type = '', error = '' }): Line => {
    if (value === undefined) {
      return { name, text: error, type: '', kind: 'error' };
    }
    return { name, text: value, type, kind: value === usual ? 'usual' : 'different' };
  });
  const errors = lines.filter(({ kind }) => kind === 'error').length;
  return { expression, summary: summaryOf(frequent, errors), lines };
}

function usualOf([first, second]: readonly (readonly [string, number])[]): string | undefined {
  return first !== undefined && first[1] > (second?.[1] ?? 0) ? first[0] : undefined;
}

function summaryOf(frequent: readonly (readonly [string, number])[], errors: number): string {
  const parts = frequent.slice(0, MAX_LISTED).map(([value, count]) => `${count} × ${shortened(value)}`);
  const more = frequent.length - MAX_LISTED;
  if (more > 0) {
    parts.push(`${more} more values`);
  }
  if (errors > 0) {
    parts.push(errors === 1 ? '1 error' : `${errors} errors`);
  }
  return parts.length === 0 ? 'No worker is stopped.' : parts.join(', ');
}

function shortened(value: string): string {
  const line = value.replace(/\s+/g, ' ');
  return line.length > MAX_LENGTH ? `${line.slice(0, MAX_LENGTH - 1)}…` : line;
}
