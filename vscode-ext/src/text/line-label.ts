/** The text at the end of a line at which workers are stopped. */

import type { WorkerEntry } from '../protocol/messages';
import { escaped } from './rows';

/** The texts for one line. */
export interface LineLabel {
  /** Like "Trainer 2" or "3 workers: Rollout 0, 1, driver train.py". */
  readonly text: string;
  /** Markdown without links or HTML. */
  readonly hover: string;
}

const MAX_NAMED = 4;
const MAX_IN_HOVER = 30;

/** Return the label for these workers. There must be at least one. */
export function lineLabel(workers: readonly WorkerEntry[]): LineLabel {
  const sorted = [...workers].sort((one, other) => one.name.localeCompare(other.name, undefined, { numeric: true }));
  const count = sorted.length > 1 ? `${sorted.length} workers: ` : '';
  const listed = sorted.slice(0, MAX_IN_HOVER).map(({ name }) => escaped(name));
  const more = sorted.length > MAX_IN_HOVER ? [`and ${sorted.length - MAX_IN_HOVER} more`] : [];
  return { text: count + shortNames(sorted), hover: ['Stopped here:', ...listed, ...more].join('\n\n') };
}

/** Return the names of the first workers. Successive actors of one class share its name, like "Rollout 0, 1". */
function shortNames(workers: readonly WorkerEntry[]): string {
  const named = workers.slice(0, MAX_NAMED);
  const names = named.map(({ actor, title }, index) => {
    const isSameClass = actor !== '' && actor === named[index - 1]?.actor;
    return isSameClass && title.startsWith(`${actor} `) ? title.slice(actor.length + 1) : title;
  });
  return names.join(', ') + (workers.length > MAX_NAMED ? ', …' : '');
}
