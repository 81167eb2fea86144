/** The script of the comparison page. It runs in the page, and sends the user's requests to the extension. */

import type { CompletedField, ComparisonMessage, ToComparison } from '../protocol/page-messages';
import { Completion } from './completion';

declare function acquireVsCodeApi(): { postMessage(message: ComparisonMessage): void };

const code = acquireVsCodeApi();
const form = document.querySelector('form');
const since = document.querySelector<HTMLInputElement>('input[name=since]');
const live = document.querySelector<HTMLInputElement>('input[name=live]');

const completions = new Map(
  (['expression', 'select'] as const).flatMap((field): [CompletedField, Completion][] => {
    const input = inputOf(field);
    const around = input?.closest<HTMLElement>('.field') ?? null;
    const ask = (text: string): void => code.postMessage({ kind: 'complete', field, text });
    return input === null || around === null ? [] : [[field, new Completion(input, around, ask)]];
  }),
);

/** The sorted column of the table, and whether its order is ascending; undefined if the user has not sorted it. */
let sorted: { readonly column: number; readonly isAscending: boolean } | undefined;

function inputOf(name: string): HTMLInputElement | null {
  return document.querySelector<HTMLInputElement>(`input[name=${name}]`);
}

function valueOf(name: string): string {
  return inputOf(name)?.value ?? '';
}

function compare(keep: boolean): void {
  const [expression, select] = [valueOf('expression'), valueOf('select')];
  code.postMessage({
    kind: 'compare',
    expression,
    select,
    keep,
    since: since?.checked ?? false,
    live: live?.checked ?? true,
  });
}

/** Sort the table by the column of this button, with numbers in numeric order. A second click reverses the order. */
function sort(button: HTMLButtonElement): void {
  const head = button.closest('th');
  if (head !== null) {
    const isAscending = head.getAttribute('aria-sort') !== 'ascending';
    sorted = { column: head.cellIndex, isAscending };
    applySorting();
  }
}

function applySorting(): void {
  const table = document.querySelector('thead')?.closest('table');
  const body = table?.tBodies[0];
  const heads = Array.from(table?.querySelectorAll('th') ?? []);
  if (sorted === undefined || body === undefined) {
    return;
  }
  const { column, isAscending } = sorted;
  heads.forEach((each) => each.removeAttribute('aria-sort'));
  heads[column]?.setAttribute('aria-sort', isAscending ? 'ascending' : 'descending');
  const text = (row: HTMLTableRowElement): string => row.cells[column]?.textContent ?? '';
  const rows = Array.from(body.rows).sort((one, other) =>
    text(one).localeCompare(text(other), undefined, { numeric: true }),
  );
  body.append(...(isAscending ? rows : rows.reverse()));
}

function buttonsOf(main: HTMLElement): HTMLButtonElement[] {
  return Array.from(main.querySelectorAll('button'));
}

/** Show the values of another comparison. Keep the sorting, the focus, and the input that the user is writing. */
function replace({ expression, select, since: isSince, kept, results }: ToComparison & { kind: 'compared' }): void {
  const main = document.querySelector('main');
  if (main !== null) {
    const focused = main.contains(document.activeElement) ? document.activeElement : null;
    const [place, text] = [buttonsOf(main).indexOf(focused as HTMLButtonElement), focused?.textContent];
    main.innerHTML = results;
    applySorting();
    const buttons = buttonsOf(main);
    if (focused !== null) {
      (buttons.find(({ textContent }) => textContent === text) ?? buttons[place])?.focus({ preventScroll: true });
    }
  }
  for (const [name, value] of Object.entries({ expression, select })) {
    const input = inputOf(name);
    if (input !== null && input !== document.activeElement) {
      input.value = value;
    }
  }
  if (since !== null) {
    since.checked = isSince;
    since.closest('label')?.toggleAttribute('hidden', !kept);
  }
}

form?.addEventListener('submit', (event) => {
  event.preventDefault();
  compare(false);
});
for (const box of [since, live]) {
  box?.addEventListener('change', () => {
    compare(false);
  });
}
document.addEventListener('click', ({ target }) => {
  const button = target instanceof Element ? target.closest('button') : null;
  if (button === null) {
    return;
  }
  if (button.name === 'keep') {
    compare(true);
  } else if (button.className === 'sort') {
    sort(button);
  } else if (button.dataset.thread !== undefined) {
    code.postMessage({ kind: 'focus', threadId: Number(button.dataset.thread) });
  }
});
window.addEventListener('message', ({ data }: MessageEvent<ToComparison>) => {
  if (data.kind === 'compared') {
    replace(data);
  } else if (data.kind === 'completions') {
    completions.get(data.field)?.show(data.text, data.options);
  } else {
    document.querySelector('p.moved')?.removeAttribute('hidden');
  }
});
