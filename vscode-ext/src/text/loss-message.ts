/** The message about workers that are gone, or that the debugger has lost. */

import type { Change } from '../model/worker-tree';

/** The lost workers, at least one, in the order in which they were lost. */
export type Losses = readonly [Change, ...Change[]];

const MAX_NAMED = 3;

/** Return one message for all lost workers, with the reason of the first. The others usually have the same reason. */
export function lossMessage([{ worker }, ...others]: Losses): string {
  const first = `${worker.label}: ${worker.problem}`;
  if (others.length === 0) {
    return first;
  }
  const names = others.slice(0, MAX_NAMED).map((other) => other.worker.label);
  const more = others.length > MAX_NAMED ? ` and ${others.length - MAX_NAMED} more` : '';
  // Leave out the sentence about the other workers: some of them are gone, too.
  return `${first.replace(/ The other workers are not affected\.$/, '')} Also gone: ${names.join(', ')}${more}.`;
}
