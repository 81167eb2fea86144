/** The rows of the Ray view, as plain data. */

import { actionWords, countsText, type Tally } from '../model/tally';
import { GroupNode, type TreeNode, type WorkerNode } from '../model/worker-tree';
import type { WorkerEntry, WorkerState } from '../protocol/messages';

/** One row of the view. */
export interface Row {
  readonly label: string;
  readonly description: string;
  /** Markdown without links or HTML. */
  readonly tooltip: string;
  /** The text for screen readers, which includes what the icon shows; undefined if the icon shows no state. */
  readonly spoken?: string;
  /** The id of one of VS Code's icons. */
  readonly icon: string;
  /** The id of one of VS Code's colours; undefined for the colour of text. */
  readonly color?: string;
  /** The context value, which determines the menu of the row (package.json). */
  readonly context: string;
}

const STATE_ICONS: Readonly<Record<WorkerState, { readonly icon: string; readonly color?: string }>> = {
  stopped: { icon: 'debug-stackframe', color: 'debugIcon.breakpointCurrentStackframeForeground' },
  held: { icon: 'watch', color: 'debugIcon.pauseForeground' },
  attaching: { icon: 'loading~spin' },
  paused: { icon: 'debug-pause', color: 'debugIcon.pauseForeground' },
  running: { icon: 'play', color: 'debugIcon.startForeground' },
  detached: { icon: 'debug-disconnect' },
  alive: { icon: 'circle-outline', color: 'disabledForeground' },
  gone: { icon: 'circle-slash', color: 'disabledForeground' },
};
const ERROR_ICON = { icon: 'error', color: 'debugIcon.breakpointForeground' };

const GROUP_ICONS = {
  cluster: 'server-environment',
  job: 'briefcase',
  actor: 'symbol-class',
  task: 'symbol-function',
  idle: 'circle-outline',
};

const STATE_TEXTS: Readonly<Record<WorkerState, string>> = {
  stopped: 'Stopped',
  held: 'Waiting at a barrier',
  attaching: 'Attaching',
  paused: 'Paused, waiting for a debugger',
  running: 'Running, attached',
  detached: 'Running without a debugger',
  alive: 'Running, not attached',
  gone: 'Gone',
};

/**
 * A cache for the rows of workers, so that only changed workers get new rows. The rows of groups are always made anew:
 * there are few of them, and each depends on the row above it.
 */
export class RowCache {
  private readonly rows = new WeakMap<TreeNode, Row>();

  constructor(private readonly make: (node: TreeNode) => Row) {}

  get(node: TreeNode): Row {
    if (node instanceof GroupNode) {
      return this.make(node);
    }
    const row = this.rows.get(node) ?? this.make(node);
    this.rows.set(node, row);
    return row;
  }

  forget(nodes: readonly TreeNode[]): void {
    for (const node of nodes) {
      this.rows.delete(node);
    }
  }
}

/** A function that returns the counts of a group. A filter may leave out workers. */
export type TallyOf = (group: GroupNode) => Readonly<Tally>;

/** Return the row of a node. `now` is the time in milliseconds. */
export function rowOf(node: TreeNode, now: number, tallyOf: TallyOf = ({ tally }) => tally): Row {
  return node instanceof GroupNode ? groupRow(node, tallyOf) : workerRow(node, now);
}

/**
 * Return the row of a group. It leaves out its counts if they equal those in the row above: the row of the only class
 * of a job does not repeat the counts of the job.
 */
function groupRow(group: GroupNode, tallyOf: TallyOf): Row {
  const { kind, name, parent } = group;
  const tally = tallyOf(group);
  const counts = countsOf(kind, tally);
  const isRepeated = parent !== undefined && counts === countsOf(parent.kind, tallyOf(parent));
  return {
    label: name,
    description: isRepeated ? '' : counts,
    tooltip: [escaped(name), counts].filter((text) => text !== '').join(': '),
    icon: GROUP_ICONS[kind],
    context: ['raydap', kind, ...actionWords(tally)].join('.'),
  };
}

/**
 * Return the counts of a group. Gone and alive workers are counted only if there are no others, and never for a
 * cluster.
 */
function countsOf(kind: GroupNode['kind'], tally: Readonly<Tally>): string {
  return countsText(tally) || (kind === 'cluster' ? '' : countsText(tally, []));
}

function workerRow({ worker, since }: WorkerNode, now: number): Row {
  const { label, where, state, threads, problem } = worker;
  const errors = [...new Set(threads.map(({ error }) => error).filter((error) => error !== ''))];
  const age = state === 'running' || state === 'alive' ? '' : durationText((now - since) / 1000);
  const gone = state === 'gone' ? 'gone' : '';
  const count = threads.length > 1 ? `${threads.length} threads` : '';
  const parts = [errors.join(', '), count, gone, age, where].filter((part) => part !== '');
  const { icon, color } = errors.length > 0 ? ERROR_ICON : STATE_ICONS[state];
  return {
    label,
    description: parts.join(' · '),
    tooltip: tooltip(worker, errors, age),
    spoken: [label, STATE_TEXTS[state], ...parts].join(', '),
    icon: problem !== '' && (state === 'paused' || state === 'alive') ? 'warning' : icon,
    ...(color === undefined ? {} : { color }),
    context: `raydap.worker.${state}${state === 'alive' && worker.agent ? '.agent' : ''}`,
  };
}

function tooltip(worker: WorkerEntry, errors: readonly string[], age: string): string {
  const reasons = [...new Set(worker.threads.map(({ reason }) => reason))].join(', ');
  const facts: readonly (readonly [string, string])[] = [
    ['Place', worker.threads.map(({ place }) => place).find((place) => place !== '') ?? ''],
    ['Stopped by', errors.length > 0 ? errors.join(', ') : reasons],
    ['Actor', worker.actorName === '' ? worker.actor : `${worker.actor} (${worker.actorName})`],
    ['Process', worker.pid === 0 ? '' : String(worker.pid)],
    ['Node', [worker.node, worker.nodeId.slice(0, 8)].filter((text) => text !== '').join(', ')],
    ['Job', [worker.job, worker.submission].filter((text) => text !== '').join(', ')],
  ];
  const lines = facts.filter(([, value]) => value !== '').map(([name, value]) => `${name}: ${escaped(value)}`);
  const state = age === '' ? STATE_TEXTS[worker.state] : `${STATE_TEXTS[worker.state]}, ${age}`;
  return [`**${escaped(worker.label)}**`, state, ...lines, escaped(worker.problem)]
    .filter((line) => line !== '')
    .join('\n\n');
}

/** Return a duration like "40 s", "2 min", "3 h", "5 d"; empty for less than ten seconds. */
export function durationText(seconds: number): string {
  const units: readonly (readonly [number, string])[] = [
    [86_400, 'd'],
    [3_600, 'h'],
    [60, 'min'],
  ];
  for (const [length, unit] of units) {
    if (seconds >= length) {
      return `${Math.floor(seconds / length)} ${unit}`;
    }
  }
  return seconds >= 10 ? `${Math.floor(seconds / 10) * 10} s` : '';
}

/** Escape a text for Markdown. Names come from programs and may contain Markdown characters. */
export function escaped(text: string): string {
  return text.replace(/[\\`*_{}[\]()#+\-.!<>|~]/g, '\\$&');
}
