/** The rows of the Waits view: deadlocks first, then the tree of waits. */

import type { Deadlock, WaitGraph, WaitLine, WaitNode } from '../protocol/messages';
import type { Row } from './row';

export interface WaitRow extends Row<WaitRow> {
  readonly children: WaitRow[];
}

/** The icons of the states. The text of a row contains its state, too. */
const ICONS: Readonly<Record<WaitNode['state'], string>> = {
  blocked: 'watch',
  busy: 'play',
  idle: 'circle-outline',
  paused: 'debug-pause',
  pending: 'clock',
  resource: 'server',
  running: 'play',
  stopped: 'debug-stackframe',
  unknown: 'question',
};

export function waitRows(graph: WaitGraph): WaitRow[] {
  const { nodes, deadlocks, collectives, lines, unread, idle, problem } = graph;
  const deadlocked = new Set(deadlocks.flatMap((deadlock) => deadlock.nodes));
  const missing = collectives.filter((each) => each.missing.length > 0);
  const notes = [
    ...(idle > 0 ? [`${idle} idle`] : []),
    ...(unread.length > 0 ? [`${unread.length} could not be read`] : []),
    ...(problem === '' ? [] : [`Ray's list of waiting tasks is not available: ${problem}`]),
  ];
  return [
    ...deadlocks.map((deadlock, index) => deadlockRow(deadlock, nodes, deadlocks.length > 1 ? ` ${index + 1}` : '')),
    ...missing.map(({ text, missing: absent }, index) => ({
      ...rowOf(`collective ${index}`, text, '', 'warning'),
      children: absent.map((each) => nodeRow(`collective ${index}/${each}`, nodes[each])),
    })),
    ...treeOf(lines, nodes, deadlocked),
    ...notes.map((text) => rowOf(`note ${text}`, text, '', 'info')),
  ];
}

function deadlockRow({ certain, cycle, nodes: all, text }: Deadlock, nodes: readonly WaitNode[], no: string): WaitRow {
  const id = `deadlock${no}`;
  const label = `${certain ? 'Deadlock' : 'Probably a deadlock'}${no}`;
  const description = `${all.length} wait for each other`;
  const children = cycle.map((each) => nodeRow(`${id}/${each}`, nodes[each]));
  return { ...rowOf(id, label, description, 'error'), tooltip: `${label}:\n${text}`, children };
}

function nodeRow(id: string, node: WaitNode | undefined): WaitRow {
  const { label = '', text = '', state = 'unknown', location = null } = node ?? {};
  return { ...rowOf(id, label, text, ICONS[state]), frame: location };
}

/** Return the lines as a tree. A line belongs to the last line before it that is one level higher. */
function treeOf(lines: readonly WaitLine[], nodes: readonly WaitNode[], deadlocked: ReadonlySet<number>): WaitRow[] {
  const roots: WaitRow[] = [];
  const path: WaitRow[] = [];
  lines.forEach(({ depth, text, nodes: [first = NaN] }, index) => {
    const above = path[depth - 1];
    const siblings = above?.children ?? roots;
    const id = `${above?.id ?? 'tree'}/${text}`;
    const own = siblings.some((each) => each.id === id) ? `${id} ${index}` : id;
    const row = lineRow(own, text, nodes[first], deadlocked.has(first));
    siblings.push(row);
    path.splice(depth, path.length, row);
  });
  return roots;
}

/** Return the row of a line such as `Trainer 3 · train (pid 7 on 10.0.0.7): blocked in ray.get (train.py:14)`. */
function lineRow(id: string, text: string, node: WaitNode | undefined, isDeadlocked: boolean): WaitRow {
  const [, name = text, wait = ''] = /^(.*?): (.*)$/.exec(text) ?? [];
  const label = name.replace(/ \((?:pid \d+ ?)?(?:on [^)]*)?\)$/, '');
  const icon = node === undefined ? 'ellipsis' : isDeadlocked ? 'error' : ICONS[node.state];
  return { ...rowOf(id, label, wait, icon), tooltip: text, frame: node?.location ?? null };
}

function rowOf(id: string, label: string, description: string, icon: string): WaitRow {
  const tooltip = description === '' ? label : `${label}: ${description}`;
  return { id, label, description, tooltip, icon, context: 'raydap.wait', frame: null, children: [] };
}
