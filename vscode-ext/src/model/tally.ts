/** The number of workers in each state. */

import type { WorkerState } from '../protocol/messages';

/** The states that the Ray view shows, in the order in which it sorts workers. */
export const SHOWN_STATES = ['stopped', 'held', 'attaching', 'paused', 'running', 'gone', 'alive'] as const;

export type ShownState = (typeof SHOWN_STATES)[number];

export type Tally = Record<ShownState, number>;

export function emptyTally(): Tally {
  return { stopped: 0, held: 0, attaching: 0, paused: 0, running: 0, gone: 0, alive: 0 };
}

export function sumOf(tallies: readonly Readonly<Tally>[]): Tally {
  const sum = emptyTally();
  for (const tally of tallies) {
    for (const state of SHOWN_STATES) {
      sum[state] += tally[state];
    }
  }
  return sum;
}

/** Return a text like "3 stopped, 12 running". It leaves out states without a worker, and the states in `without`. */
export function countsText(tally: Readonly<Tally>, without: readonly WorkerState[] = ['gone', 'alive']): string {
  return SHOWN_STATES.filter((state) => tally[state] > 0 && !without.includes(state))
    .map((state) => `${tally[state]} ${state}`)
    .join(', ');
}

/** Return the words for the actions that apply to some of the workers. The menus in package.json look for them. */
export function actionWords({ stopped, held, attaching, paused, running }: Readonly<Tally>): string[] {
  const counts = {
    continue: stopped,
    attach: paused,
    pause: held + running,
    detach: stopped + held + running + attaching,
  };
  return Object.entries(counts).flatMap(([word, count]) => (count > 0 ? [word] : []));
}

/** Return the number of workers that wait for the user or for a debugger. */
export function waitingCount(tally: Readonly<Tally>): number {
  return tally.stopped + tally.attaching + tally.paused;
}
