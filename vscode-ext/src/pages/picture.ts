/** The script of the page with all stacks. Arrow keys move the focus between frames; a line shows the frame's title. */

export {};

const frames = Array.from(document.querySelectorAll<SVGGElement>('svg g'));
const status = document.querySelector('p');

function place(frame: SVGGElement): DOMRect {
  return (frame.querySelector('rect') ?? frame).getBoundingClientRect();
}

function say(frame: Element | null): void {
  const title = frame?.closest('g')?.querySelector('title')?.textContent;
  if (status !== null && title !== undefined) {
    status.textContent = title;
  }
}

/** Return the nearest frame in the direction of an arrow key; undefined if there is none. */
function next(from: SVGGElement, key: string): SVGGElement | undefined {
  const { left, right, top, bottom } = place(from);
  const middle = (left + right) / 2;
  const isThere: Record<string, (box: DOMRect) => boolean> = {
    ArrowDown: (box) => box.top >= bottom - 1 && box.left < right - 1 && box.right > left + 1,
    ArrowUp: (box) => box.bottom <= top + 1 && box.left <= middle && box.right >= middle,
    ArrowLeft: (box) => Math.abs(box.top - top) < 1 && box.right <= left + 1,
    ArrowRight: (box) => Math.abs(box.top - top) < 1 && box.left >= right - 1,
  };
  const far = (frame: SVGGElement): number => {
    const box = place(frame);
    return Math.abs(box.top - top) + Math.abs(Math.max(box.left, Math.min(middle, box.right)) - middle);
  };
  return frames.filter((frame) => isThere[key]?.(place(frame))).sort((one, other) => far(one) - far(other))[0];
}

document.addEventListener('keydown', (event) => {
  const from = frames.find((frame) => frame === document.activeElement);
  const to = event.key.startsWith('Arrow') && (from === undefined ? frames[0] : next(from, event.key));
  if (to) {
    event.preventDefault();
    to.focus();
  }
});
document.addEventListener('focusin', ({ target }) => {
  say(target instanceof Element ? target : null);
});
document.addEventListener('mouseover', ({ target }) => {
  say(target instanceof Element ? target : null);
});
