/** The page of a comparison in HTML. It has no scripts, loads nothing, and takes the colours of the theme. */

import type { Comparison, Line } from '../model/comparison';

const STYLE = `
  body { padding: 1em 1.5em; font: var(--vscode-font-size) var(--vscode-font-family); color: var(--vscode-foreground); }
  h1 { font: 1.2em var(--vscode-editor-font-family); margin: 0; overflow-wrap: anywhere; }
  p { color: var(--vscode-descriptionForeground); margin: 0.4em 0 1.2em; overflow-wrap: anywhere; }
  table { border-collapse: collapse; }
  th { font-weight: 600; text-align: left; }
  th, td { padding: 0.3em 1.5em 0.3em 0.6em; vertical-align: top;
    border-bottom: 1px solid var(--vscode-editorWidget-border, transparent); }
  td:first-child { white-space: nowrap; }
  td.value { font-family: var(--vscode-editor-font-family); white-space: pre-wrap; overflow-wrap: anywhere; }
  td.type { color: var(--vscode-descriptionForeground); }
  tr.different td { background: var(--vscode-diffEditor-insertedLineBackground, var(--vscode-editor-selectionBackground)); }
  tr.different td:first-child { box-shadow: inset 3px 0 var(--vscode-charts-green); }
  tr.error td:first-child { box-shadow: inset 3px 0 var(--vscode-errorForeground); }
  tr.error td.value { color: var(--vscode-errorForeground); }
`;

/** `nonce` is a new random word for each page; it allows the page's own style and nothing else. */
export function comparisonPage({ expression, summary, lines }: Comparison, nonce: string): string {
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'nonce-${nonce}'">
<title>${html(expression)}</title>
<style nonce="${nonce}">${STYLE}</style>
</head>
<body>
<h1>${html(expression)}</h1>
<p>${html(summary)}</p>
${lines.length === 0 ? '' : table(lines)}
</body>
</html>`;
}

function table(lines: readonly Line[]): string {
  return `<table>
<thead><tr><th>Worker</th><th>Value</th><th>Type</th></tr></thead>
<tbody>
${lines.map(row).join('\n')}
</tbody>
</table>`;
}

function row({ name, text, type, kind }: Line): string {
  return `<tr class="${kind}"><td>${html(name)}</td><td class="value">${html(text)}</td><td class="type">${html(type)}</td></tr>`;
}

function html(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
