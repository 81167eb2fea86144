/** The places of files in the text of a worker's stack, which are written as in Python's tracebacks. */

export interface StackLink {
  /** Where the place is in the text, in characters. */
  readonly start: number;
  readonly end: number;
  readonly path: string;
  readonly line: number;
}

/** Code without a file, such as `<string>`, has no link. */
export function stackLinks(text: string): StackLink[] {
  return [...text.matchAll(/^ {2}File "((?:\/|[A-Za-z]:\\).*)", line (\d+), in /gm)].map((found) => {
    const [, path = '', line = ''] = found;
    const start = found.index + found[0].indexOf('"') + 1;
    return { start, end: found.index + found[0].lastIndexOf(', in '), path, line: Number(line) };
  });
}
