/** Line breaks in texts for rows, because VS Code cuts a row that is too long. */

/** The number of characters that fit into a row of the side bar at the width that it has at first. */
const WIDTH = 36;

/**
 * Return the text as lines. An error number, like `[raydap 2003]`, and a word that is longer than a line are not
 * broken.
 */
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
