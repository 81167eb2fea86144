/** Breaks a text for rows, because VS Code cuts a row that is too long. */

/** Fits into a row of the side bar as wide as VS Code opens it. */
const WIDTH = 36;

/** The text as lines. The number of an error stays in one piece, as does a word that is longer than a line. */
export function wrapped(text: string, width = WIDTH): string[] {
  const lines: string[] = [];
  for (const word of text.match(/\[raydap \d+\]|\S+/g) ?? []) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width) {
      lines[lines.length - 1] = `${last} ${word}`;
    } else {
      lines.push(word);
    }
  }
  return lines;
}
