/** The text at the end of a line at which workers are stopped. */

import type { WorkerEntry } from '../protocol/messages';
import { escaped } from './rows';

/** The texts for one line. */
export interface LineLabel {
  /** Like "Trainer 4711" or "3 workers: RolloutWorker#0, #1, driver train.py 4700". */
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

/** Return the names of the first workers. Successive actors of one class share its name, like "RolloutWorker#0, #1". */
function shortNames(workers: readonly WorkerEntry[]): string {
  const named = workers.slice(0, MAX_NAMED);
  const names = named.map((worker, index) => {
    const name = nameOf(worker);
    const isSameClass = worker.actor !== '' && worker.actor === named[index - 1]?.actor;
    return isSameClass && name.startsWith(worker.actor) ? name.slice(worker.actor.length).trimStart() : name;
  });
  return names.join(', ') + (workers.length > MAX_NAMED ? ', …' : '');
}

/** Return a name that identifies the worker: the beginning of an actor's label, else the label and the process. */
function nameOf({ actor, label, pid, where, type }: WorkerEntry): string {
  return actor !== '' && type !== 'child' ? (label.split(' · ')[0] ?? '') : `${label} ${pid === 0 ? where : pid}`;
}
