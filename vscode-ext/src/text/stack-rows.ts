/** The rows of the Stacks view, as plain data. */

import type { CodeLocation, MergedStacks, MissingMembers, StackNode } from '../protocol/messages';
import type { Row } from './row';

/** One row of the view. Its context value depends on whether it has stopped threads. */
export interface StackRow extends Row<StackRow> {
  /** The innermost frame of the row; null for the row of unknown stacks. */
  readonly frame: CodeLocation | null;
  /** The ids of the stopped threads of the row. */
  readonly members: readonly number[];
}

/**
 * Return the rows of the view. Frames that all threads of a branch have in common are one row, named by the innermost.
 */
export function stackRows({ root, missing, silent, unread }: MergedStacks): StackRow[] {
  const rows = root.children.map((child) => rowOf(child, ''));
  const unknown = silent.length + unread.length;
  return [...missing.map(missingRow), ...rows, ...(unknown === 0 ? [] : [unknownRow(unknown, silent)])];
}

function rowOf(node: StackNode, above: string): StackRow {
  const frames = [placeOf(node.frame)];
  let inner = node;
  for (let [only] = inner.children; only?.count === inner.count; [only] = inner.children) {
    frames.push(placeOf(only.frame));
    inner = only;
  }
  const id = `${above}/${frames.join('/')}`;
  const { frame, count, label, members } = inner;
  return {
    id,
    label: placeOf(frame),
    description: `${count} · ${label}`,
    tooltip: `${[...frames].reverse().join('\n')}\n\n${count}: ${label}`,
    icon: members.length === 0 ? 'play' : inner.children.length > 0 ? 'git-branch' : 'debug-stackframe',
    context: members.length === 0 ? 'raydap.stack.running' : 'raydap.stack.stopped',
    frame,
    members,
    children: inner.children.map((child) => rowOf(child, id)),
  };
}

function missingRow({ frame, count, of, members, label }: MissingMembers): StackRow {
  const text = `${label} missing in ${placeOf(frame)}`;
  const description = `${count} of ${of} workers are there`;
  const context = members.length === 0 ? 'raydap.stack.missing' : 'raydap.stack.stopped';
  const tooltip = `${text}\n\n${description}`;
  return {
    id: `missing/${text}`,
    label: text,
    description,
    tooltip,
    icon: 'warning',
    context,
    frame,
    members,
    children: [],
  };
}

function unknownRow(count: number, members: readonly number[]): StackRow {
  const label = count === 1 ? '1 stack cannot be read' : `${count} stacks cannot be read`;
  const context = members.length === 0 ? 'raydap.stack.unknown' : 'raydap.stack.stopped';
  return {
    id: 'unknown',
    label,
    description: '',
    tooltip: label,
    icon: 'question',
    context,
    frame: null,
    members,
    children: [],
  };
}

/** Return a text like "step (train.py:88)"; empty without a frame. */
function placeOf(frame: CodeLocation | null): string {
  return frame === null ? '' : `${frame.name} (${frame.path.replace(/^.*[/\\]/, '')}:${frame.line})`;
}
