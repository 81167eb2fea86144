/** What a user is told when workers that step together part. */

import type { SteppedGroup, SteppedThreads } from '../protocol/messages';

/** Like `1 of 8 came to another line: Trainer{3} at train.py:50.`; undefined if all came to one line. */
export function steppedMessage({ threads, groups = [], running = [] }: SteppedThreads): string | undefined {
  const others = groups.slice(0, -1);
  const apart = others.reduce((sum, { members }) => sum + members.length, 0);
  const where = others.map(({ label, frame }) => `${label} at ${place(frame)}`).join(', ');
  const parts = [
    ...(apart === 0 ? [] : [`${apart} of ${threads.length} came to another line: ${where}.`]),
    ...(running.length === 0 ? [] : [`${running.length} of ${threads.length} have not come to a line yet.`]),
  ];
  return parts.length === 0 ? undefined : parts.join(' ');
}

function place(frame: SteppedGroup['frame']): string {
  return frame === null ? 'library code' : `${frame.path.split(/[\\/]/).at(-1) ?? ''}:${frame.line}`;
}
