/** HTML pages in which all inserted texts are escaped. */

/** A piece of HTML, as opposed to a text with any content. */
export class Trusted {
  constructor(readonly text: string) {}
}

type Part = string | number | Trusted | readonly Trusted[];

/** Return the HTML of a template, in which texts and numbers are escaped. */
export function markup(strings: TemplateStringsArray, ...parts: readonly Part[]): Trusted {
  return new Trusted(strings.map((text, index) => text + textOf(parts[index] ?? '')).join(''));
}

function textOf(part: Part): string {
  if (part instanceof Trusted) {
    return part.text;
  }
  return typeof part === 'object' ? part.map(({ text }) => text).join('') : escaped(String(part));
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/**
 * Return a page. `nonce` is a new random word for each page; it permits only the page's style and script to be loaded.
 */
export function page(parts: {
  readonly title: string;
  readonly style: string;
  readonly body: Trusted;
  readonly nonce: string;
  readonly script: string;
}): string {
  const { title, style, body, nonce, script } = parts;
  const policy = `default-src 'none'; style-src 'nonce-${nonce}'; script-src 'nonce-${nonce}'`;
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<title>${escaped(title)}</title>
<style nonce="${nonce}">${style}</style>
</head>
<body>
${body.text}
<script nonce="${nonce}" src="${escaped(script)}"></script>
</body>
</html>`;
}
