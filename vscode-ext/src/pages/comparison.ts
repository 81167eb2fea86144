/** The script of the comparison page. It runs in the page, and sends the user's requests to the extension. */

import { MOVED, type ComparisonMessage } from '../protocol/page-messages';

declare function acquireVsCodeApi(): { postMessage(message: ComparisonMessage): void };

const code = acquireVsCodeApi();
const form = document.querySelector('form');
const since = document.querySelector<HTMLInputElement>('input[name=since]');

function valueOf(name: string): string {
  return document.querySelector<HTMLInputElement>(`input[name=${name}]`)?.value ?? '';
}

function compare(keep: boolean): void {
  const [expression, select] = [valueOf('expression'), valueOf('select')];
  code.postMessage({ kind: 'compare', expression, select, keep, since: since?.checked ?? false });
}

/** Sort the table by the column of this button, with numbers in numeric order. A second click reverses the order. */
function sort(button: HTMLButtonElement): void {
  const head = button.closest('th');
  const table = button.closest('table');
  const body = table?.tBodies[0];
  if (head === null || body === undefined) {
    return;
  }
  const down = head.getAttribute('aria-sort') !== 'ascending';
  table?.querySelectorAll('th').forEach((each) => each.removeAttribute('aria-sort'));
  head.setAttribute('aria-sort', down ? 'ascending' : 'descending');
  const text = (row: HTMLTableRowElement): string => row.cells[head.cellIndex]?.textContent ?? '';
  const rows = Array.from(body.rows).sort((one, other) =>
    text(one).localeCompare(text(other), undefined, { numeric: true }),
  );
  body.append(...(down ? rows : rows.reverse()));
}

form?.addEventListener('submit', (event) => {
  event.preventDefault();
  compare(false);
});
since?.addEventListener('change', () => {
  compare(false);
});
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
window.addEventListener('message', ({ data }) => {
  const moved = document.querySelector<HTMLElement>('p.moved');
  if (data === MOVED && moved !== null) {
    moved.hidden = false;
  }
});
