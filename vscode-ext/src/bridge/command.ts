/** The command lines of the bridge. */

export interface Command {
  readonly command: string;
  readonly args: readonly string[];
  /** Added to the environment. Tokens travel here, because a command line is seen by everybody on the machine. */
  readonly env: Readonly<Record<string, string>>;
}

export interface Log {
  readonly file: string;
  readonly verbose: boolean;
}

/** A bridge of the editor's own. `token` is that of the Ray cluster, if it wants one. */
export function adapter(python: string, log: Log, token?: string): Command {
  const verbose = log.verbose ? ['--verbose'] : [];
  return {
    command: python,
    args: ['-m', 'raydap', 'adapter', '--log-file', log.file, ...verbose],
    env: named('RAY_AUTH_TOKEN', token),
  };
}

/** The way to a hub. Without a token raydap looks for the hub's connection file on this machine. */
export function connect(python: string, url: string, token?: string): Command {
  return { command: python, args: ['-m', 'raydap', 'connect', url], env: named('RAYDAP_TOKEN', token) };
}

/** What the user is offered to run. Each word is one argument. */
export function install(python: string): readonly string[] {
  return [python, '-m', 'pip', 'install', 'raydap'];
}

/** The words as one line that a POSIX shell reads back as the same words. */
export function shellLine(words: readonly string[]): string {
  return words.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)).join(' ');
}

function named(name: string, value: string | undefined): Record<string, string> {
  return value === undefined || value === '' ? {} : { [name]: value };
}
