/** What the rows of the Ray view say, as plain data. */

import { Branch, type Change, type Leaf, type Node } from './fleet';
import { counted, type State, type Worker } from './worker';

export interface Row {
  readonly label: string;
  readonly description: string;
  /** Markdown without links or HTML. */
  readonly tooltip: string;
  readonly icon: string;
  /** The id of a colour of VS Code's; undefined is that of text. */
  readonly color?: string;
  /** What menus go by. */
  readonly context: string;
}

const ICONS: Readonly<Record<State, { readonly icon: string; readonly color?: string }>> = {
  stopped: { icon: 'debug-stackframe', color: 'debugIcon.breakpointCurrentStackframeForeground' },
  attaching: { icon: 'loading~spin' },
  paused: { icon: 'debug-pause', color: 'debugIcon.pauseForeground' },
  running: { icon: 'play', color: 'debugIcon.startForeground' },
  detached: { icon: 'debug-disconnect' },
  gone: { icon: 'circle-slash', color: 'disabledForeground' },
};
const FAILED = { icon: 'error', color: 'debugIcon.breakpointForeground' };

const BRANCHES = { cluster: 'server-environment', job: 'briefcase', actor: 'symbol-class', task: 'symbol-function' };

const STATES: Readonly<Record<State, string>> = {
  stopped: 'Stopped',
  attaching: 'Being attached',
  paused: 'Paused; waits for a debugger',
  running: 'Running, attached',
  detached: 'Running without a debugger',
  gone: 'Gone',
};

export function describe(node: Node, now: number): Row {
  return node instanceof Branch ? branch(node) : worker(node, now);
}

function branch({ kind, name, tally }: Branch): Row {
  const counts = counted(tally) || counted(tally, []);
  const can = [tally.stopped > 0 && 'continue', tally.paused > 0 && 'attach'].filter((word) => word !== false);
  return {
    label: name,
    description: counts,
    tooltip: [escaped(name), counts].filter((text) => text !== '').join(': '),
    icon: BRANCHES[kind],
    context: ['raydap', kind, ...can].join('.'),
  };
}

function worker({ worker, since }: Leaf, now: number): Row {
  const errors = [...new Set(worker.threads.map(({ error }) => error).filter((error) => error !== ''))];
  const label = taskOf(worker);
  const where = worker.name.slice(label.length).replace(/^ · /, '');
  const lasted = worker.state === 'running' ? '' : duration((now - since) / 1000);
  const state = worker.state === 'gone' ? 'gone' : '';
  const threads = worker.threads.length > 1 ? `${worker.threads.length} threads` : '';
  const parts = [errors.join(', '), threads, state, lasted, where].filter((part) => part !== '');
  const { icon, color } = errors.length > 0 ? FAILED : ICONS[worker.state];
  return {
    label,
    description: parts.join(' · '),
    tooltip: tooltip(worker, errors, lasted),
    icon: worker.problem !== '' && worker.state === 'paused' ? 'warning' : icon,
    ...(color === undefined ? {} : { color }),
    context: `raydap.worker.${worker.state}`,
  };
}

/** The name without process and node, which a worker's name ends with. */
function taskOf({ name }: Worker): string {
  const [task = name] = name.split(' · ');
  return task;
}

function tooltip(worker: Worker, errors: readonly string[], lasted: string): string {
  const stopped = [...new Set(worker.threads.map(({ reason }) => reason))].join(', ');
  const facts: readonly (readonly [string, string])[] = [
    ['Stopped by', errors.length > 0 ? errors.join(', ') : stopped],
    ['Actor', worker.actorName === '' ? worker.actor : `${worker.actor} (${worker.actorName})`],
    ['Process', worker.pid === 0 ? '' : String(worker.pid)],
    ['Node', [worker.node, worker.nodeId.slice(0, 8)].filter((text) => text !== '').join(', ')],
    ['Job', [worker.job, worker.submission].filter((text) => text !== '').join(', ')],
  ];
  const lines = facts.filter(([, value]) => value !== '').map(([name, value]) => `${name}: ${escaped(value)}`);
  const state = lasted === '' ? STATES[worker.state] : `${STATES[worker.state]}, ${lasted}`;
  return [`**${escaped(taskOf(worker))}**`, state, ...lines, escaped(worker.problem)]
    .filter((line) => line !== '')
    .join('\n\n');
}

/** Like "40 s", "2 min", "3 h", "5 d"; empty for less than ten seconds, which are of no interest. */
export function duration(seconds: number): string {
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

/** So many are named in one message. */
const NAMED = 3;

/** One message about workers that are gone, or that the debugger has lost. */
export function obituary(lost: readonly Change[]): string {
  const [one] = lost;
  const stopped = lost.every(({ before }) => before?.state === 'stopped');
  if (lost.length === 1 && one !== undefined) {
    const { worker } = one;
    const reason = (worker.problem.split('. ')[0] ?? '').replace(/\.$/, '');
    return stopped ? `${taskOf(worker)}: ${worker.problem}` : `${worker.name} is gone: ${reason}.`;
  }
  const names = lost.slice(0, NAMED).map(({ worker }) => worker.name);
  const more = lost.length > NAMED ? ` and ${lost.length - NAMED} more` : '';
  return `${lost.length} ${stopped ? 'stopped workers' : 'workers'} are lost: ${names.join(', ')}${more}.`;
}

/** Names come from programs; none of it is to be taken for Markdown. */
export function escaped(text: string): string {
  return text.replace(/[\\`*_{}[\]()#+\-.!<>|~]/g, '\\$&');
}
