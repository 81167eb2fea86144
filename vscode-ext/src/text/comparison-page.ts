/** The comparison page in HTML. It loads only its own script, and has the colours of the theme. */

import type {
  ArrayHistogram,
  Change,
  Comparison,
  ComparisonGroup,
  Histogram,
  Share,
  Statistics,
} from '../protocol/messages';
import { markup, page, Trusted } from './page';
import { PLOT_STYLE, valuePlot, type Step } from './value-plot';

/** A comparison that the user has requested, with its answer or its problem. */
export interface Compared {
  readonly expression: string;
  /** The set of workers; empty for all stopped workers. */
  readonly select: string;
  /** Whether earlier values are kept. */
  readonly kept: boolean;
  /** Whether the values are compared with the kept ones. */
  readonly since: boolean;
  /** Whether to evaluate again after each stop. */
  readonly live: boolean;
  readonly answer?: Comparison;
  /** The numbers at the stops so far; absent if there are none. */
  readonly steps?: readonly Step[];
  /** A sentence for the user. */
  readonly problem?: string;
}

const STYLE = `
  body { padding: 1em 1.5em; font: var(--vscode-font-size) var(--vscode-font-family); color: var(--vscode-foreground); }
  form { display: flex; flex-wrap: wrap; gap: 0.5em; margin-bottom: 1em; }
  input[type=text] { font-family: var(--vscode-editor-font-family); padding: 0.3em 0.5em; min-width: 14em;
    color: var(--vscode-input-foreground); background: var(--vscode-input-background);
    border: 1px solid var(--vscode-input-border, var(--vscode-editorWidget-border, transparent)); }
  .field { position: relative; display: flex; flex: 1; }
  .field:first-child { flex: 2; }
  .field input { flex: 1; }
  .field [role=listbox]:not([hidden]) { position: absolute; top: 100%; left: 0; z-index: 1; display: flex; flex-direction: column;
    min-width: 100%; max-height: 20em; overflow-y: auto; border: 1px solid var(--vscode-editorSuggestWidget-border, transparent);
    color: var(--vscode-editorSuggestWidget-foreground); background: var(--vscode-editorSuggestWidget-background); }
  .field [role=option] { padding: 0.2em 0.5em; border: 0; text-align: left; font-family: var(--vscode-editor-font-family);
    color: inherit; background: none; }
  .field [role=option]:is(:hover, :focus) { color: var(--vscode-editorSuggestWidget-selectedForeground, inherit);
    background: var(--vscode-editorSuggestWidget-selectedBackground, var(--vscode-list-hoverBackground)); }
  button { padding: 0.3em 0.9em; border: 1px solid var(--vscode-button-border, var(--vscode-contrastBorder, transparent)); cursor: pointer;
    color: var(--vscode-button-foreground); background: var(--vscode-button-background); }
  button.other { color: var(--vscode-button-secondaryForeground); background: var(--vscode-button-secondaryBackground); }
  button.sort, button.members { padding: 0; border: 0; background: none; font: inherit; text-align: left; }
  button.sort { color: inherit; font-weight: 600; }
  button.members { color: var(--vscode-textLink-foreground); }
  p { color: var(--vscode-descriptionForeground); margin: 0.4em 0 1em; overflow-wrap: anywhere; }
  p.moved:not([hidden]) ~ * { opacity: 0.6; }
  p.moved { color: var(--vscode-editorWarning-foreground); }
  p.problem { color: var(--vscode-errorForeground); }
  table { border-collapse: collapse; margin-bottom: 1.2em; }
  th { font-weight: 600; text-align: left; }
  th, td { padding: 0.3em 1.5em 0.3em 0.6em; vertical-align: top;
    border-bottom: 1px solid var(--vscode-editorWidget-border, transparent); }
  td.count { text-align: right; }
  td.value { font-family: var(--vscode-editor-font-family); white-space: pre-wrap; overflow-wrap: anywhere; }
  td.type, td.numbers, span.bins { color: var(--vscode-descriptionForeground); }
  tr.different td { background: var(--vscode-diffEditor-insertedLineBackground, var(--vscode-editor-selectionBackground)); }
  tr.different td:first-child { box-shadow: inset 3px 0 var(--vscode-charts-green); }
  tr.error td:first-child { box-shadow: inset 3px 0 var(--vscode-errorForeground); }
  tr.error td.value { color: var(--vscode-errorForeground); }
  span.bins { font-family: var(--vscode-font-family); }
  svg.histogram { display: block; margin: 0.4em 0; }
  svg.histogram rect { fill: var(--vscode-charts-blue); }
${PLOT_STYLE}`;

/** The number of values that the summary lists. */
const MAX_LISTED = 6;
/** The number of characters of a value in the summary. The text of a tensor may fill pages. */
const MAX_LENGTH = 40;

/**
 * Return the page. `nonce` is a new random word for each page, which permits the page's own style and the script at the
 * URI `script`. `isMoved` means that workers have stopped or continued since the comparison.
 */
export function comparisonPage(compared: Compared, nonce: string, script: string, isMoved = false): string {
  const { expression, select, kept, since, live } = compared;
  const checked = (is: boolean): Trusted => (is ? markup` checked` : markup``);
  const box = markup`<input type="checkbox" name="since"${checked(since)}>`;
  const options = (name: string): Trusted => markup`<div role="listbox" aria-label="${name}" hidden></div>`;
  const body = markup`<form>
<span class="field"><input type="text" name="expression" value="${expression}" aria-label="Expression" spellcheck="false"
  autocomplete="off">${options('Names')}</span>
<span class="field"><input type="text" name="select" value="${select}" aria-label="Set" spellcheck="false"
  autocomplete="off" placeholder="all stopped workers, or a set such as actor:Trainer not rank:0">${options('Sets')}</span>
<button type="submit">Compare</button>
<button type="button" class="other" name="keep" title="Keep these values, to compare later values with them">Keep</button>
<label><input type="checkbox" name="live"${checked(live)}> refresh at stops</label>
<label${kept ? '' : markup` hidden`}>${box} compare with the kept values</label>
</form>
<main>${new Trusted(comparisonResults(compared, isMoved))}</main>`;
  return page({ title: expression, style: STYLE, body, nonce, script });
}

/** Return the part of the page below the form, in HTML. */
export function comparisonResults({ answer, problem, steps = [] }: Compared, isMoved = false): string {
  return markup`${problem === undefined ? '' : markup`<p class="problem" role="alert">${problem}</p>`}
${answer === undefined ? '' : movedLine(isMoved)}
${answer === undefined ? '' : results(answer, valuePlot(steps))}`.text;
}

/** Return the line that marks the values as old. The page's script shows it as soon as a worker moves. */
function movedLine(isMoved: boolean): Trusted {
  return markup`<p class="moved" role="status"${isMoved ? '' : markup` hidden`}>Workers have stopped or continued
since these values were read. Compare again.</p>`;
}

function results(answer: Comparison, plot: Trusted): Trusted {
  const { groups, silent, statistics, histogram, change } = answer;
  return markup`<p>${summaryOf(answer)}</p>
${statistics === undefined ? '' : markup`<p>${statisticsText(statistics)}</p>`}
${plot}
${histogram === undefined ? '' : histogramOf(histogram)}
${change === undefined ? '' : changeOf(change)}
${groups.length === 0 ? '' : table(groups)}
${silent.length === 0 ? '' : markup`<p>${threadsText(silent.length)} did not answer in time.</p>`}`;
}

/** Return the number of times that each value occurs, the most frequent first, like "23 × 0.5, 1 × nan". */
export function summaryOf({ groups, silent }: Comparison): string {
  const values = groups.filter(({ error }) => error === undefined).reverse();
  const parts = values.slice(0, MAX_LISTED).map(({ members, value = '' }) => `${members.length} × ${shortened(value)}`);
  if (values.length > MAX_LISTED) {
    parts.push(`${values.length - MAX_LISTED} more values`);
  }
  const errors = groups.filter(({ error }) => error !== undefined).flatMap(({ members }) => members).length;
  if (errors > 0) {
    parts.push(errors === 1 ? '1 error' : `${errors} errors`);
  }
  const nothing = silent.length > 0 ? 'No worker answered in time.' : 'None of these workers is stopped.';
  return parts.length > 0 ? parts.join(', ') : nothing;
}

function threadsText(count: number): string {
  return count === 1 ? '1 thread' : `${count} threads`;
}

function shortened(value: string): string {
  const line = value.replace(/\s+/g, ' ');
  return line.length > MAX_LENGTH ? `${line.slice(0, MAX_LENGTH - 1)}…` : line;
}

/** Return the table of values. The last value is marked as usual if it is more frequent than any other value. */
function table(groups: readonly ComparisonGroup[]): Trusted {
  const values = groups.filter(({ error }) => error === undefined);
  const [last, before] = [values.at(-1), values.at(-2)];
  const usual = last !== undefined && last.members.length > (before?.members.length ?? 0) ? last : undefined;
  const heads = ['Workers', 'Count', 'Value', 'Type', 'Difference'];
  const kind = (group: ComparisonGroup): string =>
    group.error !== undefined ? 'error' : group === usual ? 'usual' : 'different';
  return markup`<table>
<thead><tr>${heads.map((name) => markup`<th><button type="button" class="sort">${name}</button></th>`)}</tr></thead>
<tbody>
${groups.map((group) => row(group, kind(group)))}
</tbody>
</table>`;
}

function row(group: ComparisonGroup, kind: string): Trusted {
  const { members, label, value, error, type = '', difference = '', partial, array } = group;
  const bars = array?.histogram === undefined ? '' : arrayHistogram(array.histogram);
  const apart = [difference, partial ? 'only partly compared' : ''].filter((text) => text !== '').join(', ');
  return markup`<tr class="${kind}"><td>${share({ members, label })}</td><td class="count">${members.length}</td>
<td class="value">${error ?? value ?? ''}${bars}</td><td class="type">${type}</td><td>${apart}</td></tr>
`;
}

/** Return a button with the name of these threads. A click on it selects the first of them in VS Code. */
function share({ members, label }: Share): Trusted {
  const first = members[0] ?? '';
  return markup`<button type="button" class="members" data-thread="${first}" title="Go to the first of these workers">${label}</button>`;
}

function statisticsText({ min, max, mean, std, nan, inf }: Statistics): string {
  const numbers = Object.entries({ min, max, mean, std }).filter(([, value]) => value !== null);
  const counts = Object.entries({ nan, inf }).filter(([, count]) => count > 0);
  return [
    ...numbers.map(([name, value]) => `${name} ${short(value)}`),
    ...counts.map(([name, count]) => `${count} ${name}`),
  ].join(', ');
}

function short(value: number | null): string {
  return value === null ? '' : String(Number(value.toPrecision(5)));
}

function histogramOf({ low, high, counts, lowest, highest }: Histogram): Trusted {
  return markup`${barsOf(counts, 24, 60, 'Histogram')}
<p>lowest ${short(low)}: ${share(lowest)}, highest ${short(high)}: ${share(highest)}</p>`;
}

/** Return the small histogram of an array, with the bins and the number of elements that the worker has counted. */
function arrayHistogram({ low, high, counts }: ArrayHistogram): Trusted {
  const counted = counts.reduce((sum, count) => sum + count, 0);
  const text = `${counts.length} bins from ${short(low)} to ${short(high)}, ${counted} elements counted`;
  return markup`${barsOf(counts, 10, 30, `Histogram: ${text}`)}<span class="bins">${text}</span>`;
}

/** Return bars of this width and largest height, in pixels. */
function barsOf(counts: readonly number[], width: number, most: number, label: string): Trusted {
  const scale = most / Math.max(1, ...counts);
  const bars = counts.map((count, index) => {
    const height = count * scale;
    const place = markup`x="${index * width}" y="${most - height}" width="${width - 2}" height="${height}"`;
    return markup`<rect ${place}><title>${count}</title></rect>`;
  });
  const size = markup`width="${counts.length * width}" height="${most}"`;
  return markup`<svg class="histogram" ${size} role="img" aria-label="${label}">${bars}</svg>`;
}

function changeOf({ changed, unchanged, unknown, statistics }: Change): Trusted {
  const shares = Object.entries({ changed, unchanged, unknown }).filter(([, { members }]) => members.length > 0);
  const rows = shares.map(([name, each]) => {
    const count = markup`<td class="count">${each.members.length}</td>`;
    return markup`<tr><td>${name}</td>${count}<td>${share(each)}</td></tr>`;
  });
  const by =
    statistics === undefined || changed.members.length === 0
      ? ''
      : markup`<p>change: ${statisticsText(statistics)}</p>`;
  return markup`<table class="change"><tbody>${rows}</tbody></table>${by}`;
}
