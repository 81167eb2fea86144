/** The page with the picture of all stacks, in the colours of the theme. */

import { markup, page, Trusted } from './page';

const STYLE = `
  body { padding: 1em; font: var(--vscode-font-size) var(--vscode-font-family); color: var(--vscode-foreground); }
  svg { width: 100%; height: auto; }
  text { font: 12px var(--vscode-editor-font-family); fill: var(--vscode-editor-foreground); pointer-events: none; }
  rect { stroke: var(--vscode-editor-background); fill: var(--vscode-charts-blue); fill-opacity: 0.35; }
  .few rect { fill: var(--vscode-charts-orange); fill-opacity: 0.55; }
  g:focus { outline: none; }
  g:focus rect, g:hover rect { stroke: var(--vscode-focusBorder); stroke-width: 2; }
  p { min-height: 3em; white-space: pre-wrap; overflow-wrap: anywhere; color: var(--vscode-descriptionForeground); }
`;

/**
 * Return the page. `svg` comes from raydap, which escapes its texts (adapter/raydap/presentation/stack_pictures.py).
 */
export function picturePage(svg: string, nonce: string, script: string): string {
  const picture = new Trusted(svg.replace(/<style>.*?<\/style>/s, ''));
  const body = markup`<p role="status">Move between the frames with the arrow keys. This
line names the workers in the selected frame.</p>
${picture}`;
  return page({ title: 'Stacks', style: STYLE, body, nonce, script });
}
