/** The texts that name the workers a command acts on. */

import type { WorkerEntry } from '../protocol/messages';

/**
 * Return a message like `3 workers continued; 2 hidden by the filter were left out`. Return undefined if the command has
 * acted on one worker and the filter hides no other.
 */
export function countMessage(verb: string, count: number, hidden: number): string | undefined {
  const others = hidden === 0 ? '' : `; ${hidden} hidden by the filter ${hidden === 1 ? 'was' : 'were'} left out`;
  return count === 1 && hidden === 0 ? undefined : `${count} ${count === 1 ? 'worker' : 'workers'} ${verb}${others}`;
}

/** Return a title like `Continue 12 Trainers`; `Continue 12 workers` for workers of several classes or of a task. */
export function actionTitle(verb: string, workers: readonly WorkerEntry[]): string {
  const [first] = workers;
  const actor = first?.actor ?? '';
  const isOneClass = actor !== '' && workers.every((worker) => worker.actor === actor && worker.type !== 'child');
  const name = isOneClass ? actor : 'worker';
  return `${verb} ${workers.length} ${name}${workers.length === 1 || name.endsWith('s') ? '' : 's'}`;
}

/** Return a message like `3 workers of 10.0.0.7:8265 wait at breakpoint().` */
export function waitingText(count: number, cluster: string): string {
  const [workers, wait] = count === 1 ? ['worker', 'waits'] : ['workers', 'wait'];
  return `${count} ${workers} of ${cluster} ${wait} at breakpoint().`;
}
