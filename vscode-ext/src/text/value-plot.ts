/** The plot of an expression's values over the stops of the workers, as SVG. It has the colours of the theme. */

import type { Comparison } from '../protocol/messages';
import { markup, Trusted } from './page';

/** The numbers of one comparison, by the names of their lines. */
export type Step = ReadonlyMap<string, number>;

/** The largest number of workers with a line each. For more workers, the lowest, mean and highest value have lines. */
const MAX_LINES = 20;
/** The largest number of steps; the oldest ones are dropped. */
const MAX_STEPS = 200;

const SIZE = { width: 420, height: 120 };
const COLOURS = ['blue', 'orange', 'green', 'purple', 'red', 'yellow'];

export const PLOT_STYLE = `
  svg.plot { display: block; max-width: 100%; margin: 0.4em 0; overflow: visible; border-bottom: 1px solid var(--vscode-editorWidget-border, currentColor); }
  svg.plot polyline { fill: none; stroke-width: 2; vector-effect: non-scaling-stroke; }
${COLOURS.map((colour, index) => `  svg.plot .line${index} { stroke: var(--vscode-charts-${colour}); }`).join('\n')}
`;

/** Return the numbers of a comparison; undefined if its values are not numbers. `names` has those of the threads. */
export function stepOf({ groups, statistics }: Comparison, names: ReadonlyMap<number, string>): Step | undefined {
  if (statistics === undefined) {
    return undefined;
  }
  const values = groups.flatMap(({ members, value = '' }) =>
    members.map((id) => [names.get(id) ?? `thread ${id}`, Number(value)] as const),
  );
  const { min, mean, max } = statistics;
  const summary = Object.entries({ lowest: min, mean, highest: max }).map(
    ([name, value]) => [name, value ?? NaN] as const,
  );
  return new Map((values.length > MAX_LINES ? summary : values).filter(([, value]) => Number.isFinite(value)));
}

/** Return the steps with another one, which replaces the last one if no worker has moved in between. */
export function withStep(steps: readonly Step[], step: Step, isMoved: boolean): readonly Step[] {
  return [...(isMoved ? steps : steps.slice(0, -1)), step].slice(-MAX_STEPS);
}

/** Return the plot; nothing for fewer than two steps. */
export function valuePlot(steps: readonly Step[]): Trusted {
  const all = steps.flatMap((step) => [...step.values()]);
  if (steps.length < 2 || all.length === 0) {
    return new Trusted('');
  }
  const [low, high] = [Math.min(...all), Math.max(...all)];
  const names = [...new Set(steps.flatMap((step) => [...step.keys()]))];
  const x = (index: number): number => (SIZE.width * index) / (steps.length - 1);
  const y = (value: number): number => SIZE.height * (high === low ? 0.5 : (high - value) / (high - low));
  const lines = names.map((name, index) => {
    const points = steps.flatMap((step, at) => {
      const value = step.get(name);
      return value === undefined ? [] : [`${x(at).toFixed(1)},${y(value).toFixed(1)}`];
    });
    const last = [...steps]
      .reverse()
      .find((step) => step.has(name))
      ?.get(name);
    const title = markup`<title>${name}: ${last ?? ''}</title>`;
    return markup`<polyline class="line${index % COLOURS.length}" points="${points.join(' ')}">${title}</polyline>`;
  });
  const label = `Values of ${names.length} lines over ${steps.length} stops, from ${low} to ${high}`;
  const size = markup`width="${SIZE.width}" height="${SIZE.height}" viewBox="0 0 ${SIZE.width} ${SIZE.height}"`;
  return markup`<svg class="plot" ${size} preserveAspectRatio="none" role="img" aria-label="${label}">${lines}</svg>
<p>${steps.length} stops, from ${low} to ${high}: ${names.join(', ')}</p>`;
}
