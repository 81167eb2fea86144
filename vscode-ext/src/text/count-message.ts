/** Names the number of workers that a command has acted on. */

/** Like `3 workers continued; the filter hides 2 others`; undefined if one worker was meant and the filter hid no other. */
export function countMessage(verb: string, count: number, hidden: number): string | undefined {
  const others = hidden === 0 ? '' : `; the filter hides ${hidden} ${hidden === 1 ? 'other' : 'others'}`;
  return count === 1 && hidden === 0 ? undefined : `${count} ${count === 1 ? 'worker' : 'workers'} ${verb}${others}`;
}
