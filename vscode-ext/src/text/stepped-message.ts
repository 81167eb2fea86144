/** The message when workers that step together have come to different lines. */

import type { SteppedGroup, SteppedThreads } from '../protocol/messages';

/**
 * Return a message like `1 of 8 threads reached another line: Trainer 3 at train.py:50.`; undefined if all reached one line.
 */
export function steppedMessage({ threads, groups = [], running = [] }: SteppedThreads): string | undefined {
  const others = groups.slice(0, -1);
  const apart = others.reduce((sum, { members }) => sum + members.length, 0);
  const where = others.map(({ label, frame }) => `${label} ${place(frame)}`).join(', ');
  const parts = [
    ...(apart === 0 ? [] : [`${apart} of ${threads.length} threads reached another line: ${where}.`]),
    ...(running.length === 0 ? [] : [`${running.length} of ${threads.length} threads have not reached a line yet.`]),
  ];
  return parts.length === 0 ? undefined : parts.join(' ');
}

function place(frame: SteppedGroup['frame']): string {
  return frame === null ? 'in library code' : `at ${frame.path.split(/[\\/]/).at(-1) ?? ''}:${frame.line}`;
}
