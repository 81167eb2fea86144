/** Command lines of raydap. */

export interface Command {
  readonly command: string;
  readonly args: readonly string[];
  /** Added to the environment. Tokens are passed here, because everybody on the machine can see a command line. */
  readonly env: Readonly<Record<string, string>>;
}

export interface Log {
  readonly file: string;
  readonly verbose: boolean;
}

/** Starts an adapter for this window. `token` is that of the Ray cluster, if it has one. */
export function adapterCommand(python: string, log: Log, token?: string): Command {
  const verbose = log.verbose ? ['--verbose'] : [];
  return {
    command: python,
    args: ['-m', 'raydap', 'adapter', '--log-file', log.file, ...verbose],
    env: variable('RAY_AUTH_TOKEN', token),
  };
}

/** Connects to a hub. Without a token raydap looks for the hub's connection file on this machine. */
export function connectCommand(python: string, url: string, token?: string): Command {
  return { command: python, args: ['-m', 'raydap', 'connect', url], env: variable('RAYDAP_TOKEN', token) };
}

/** Starts the language server for this window. */
export function languageServerCommand(python: string): Command {
  return { command: python, args: ['-m', 'raydap', 'lsp'], env: {} };
}

/** Installs raydap; each word is one argument. */
export function installCommand(python: string): readonly string[] {
  return [python, '-m', 'pip', 'install', 'raydap'];
}

/** The words as one line that a POSIX shell reads back as the same words. */
export function shellLine(words: readonly string[]): string {
  return words.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)).join(' ');
}

function variable(name: string, value: string | undefined): Record<string, string> {
  return value === undefined || value === '' ? {} : { [name]: value };
}
