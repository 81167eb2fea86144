/** Pages in HTML of which only what is written here is taken for HTML. */

/** HTML, as opposed to a text that may have anything in it. */
export class Trusted {
  constructor(readonly text: string) {}
}

type Part = string | number | Trusted | readonly Trusted[];

/** A template whose texts and numbers are escaped. */
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

/** `nonce` is a new random word for each page; it allows the style and the script, and nothing else is loaded. */
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
