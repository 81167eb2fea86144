/** The message with the number of workers that a command has acted on. */

/**
 * Return a message like `3 workers continued; 2 hidden by the filter were left out`. Return undefined if the command has
 * acted on one worker and the filter hides no other.
 */
export function countMessage(verb: string, count: number, hidden: number): string | undefined {
  const others = hidden === 0 ? '' : `; ${hidden} hidden by the filter ${hidden === 1 ? 'was' : 'were'} left out`;
  return count === 1 && hidden === 0 ? undefined : `${count} ${count === 1 ? 'worker' : 'workers'} ${verb}${others}`;
}
