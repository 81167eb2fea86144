/** The links to source files in the text of a worker's stack, which has the format of a Python traceback. */

/** A file and line that the text names. */
export interface StackLink {
  /** The range of the link in the text, in characters. */
  readonly start: number;
  readonly end: number;
  readonly path: string;
  readonly line: number;
}

/** Return the links in a text. Code without a file, such as `<string>`, has no link. */
export function stackLinks(text: string): StackLink[] {
  return [...text.matchAll(/^ {2}File "((?:\/|[A-Za-z]:\\).*)", line (\d+), in /gm)].map((found) => {
    const [, path = '', line = ''] = found;
    const start = found.index + found[0].indexOf('"') + 1;
    return { start, end: found.index + found[0].lastIndexOf(', in '), path, line: Number(line) };
  });
}
