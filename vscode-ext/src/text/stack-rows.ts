/** The rows of the Stacks view, as plain data. */

import type { Location, MergedStacks, MissingMembers, StackNode } from '../protocol/messages';

export interface StackRow {
  /** The same for the same stack, so that VS Code keeps the row open. */
  readonly id: string;
  readonly label: string;
  readonly description: string;
  readonly tooltip: string;
  readonly icon: string;
  /** The context value: whether threads are stopped there. */
  readonly context: string;
  readonly frame: Location | null;
  /** The ids of the stopped threads. */
  readonly members: readonly number[];
  readonly children: readonly StackRow[];
}

/** Frames that all of a branch have called are one row, which names the innermost. */
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
  const description = `${count} of ${of} are there`;
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

/** Like "step (train.py:88)". */
function placeOf(frame: Location | null): string {
  return frame === null ? '' : `${frame.name} (${frame.path.replace(/^.*[/\\]/, '')}:${frame.line})`;
}
