/** The message about workers that are gone, or that the debugger has lost. */

import type { Change } from '../model/worker-tree';

/** In the order in which they were lost; at least one. */
export type Losses = readonly [Change, ...Change[]];

const MAX_NAMED = 3;

/** One message for all of them, with the reason of the first: those that are lost together mostly have the same. */
export function lossMessage([{ worker }, ...others]: Losses): string {
  const first = `${worker.label}: ${worker.problem}`;
  if (others.length === 0) {
    return first;
  }
  const names = others.slice(0, MAX_NAMED).map((other) => other.worker.label);
  const more = others.length > MAX_NAMED ? ` and ${others.length - MAX_NAMED} more` : '';
  // "The other workers go on" would not be true.
  return `${first.split('; ')[0]?.replace(/\.$/, '')}. Also gone: ${names.join(', ')}${more}.`;
}
