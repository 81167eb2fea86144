/** Command lines of raydap. */

/** A program with its arguments. */
export interface Command {
  readonly command: string;
  readonly args: readonly string[];
  /** Variables to add to the environment. They contain tokens, because other users can see the command line. */
  readonly env: Readonly<Record<string, string>>;
}

/** The log of an adapter. */
export interface Log {
  readonly file: string;
  /** Whether raydap logs every step, not only problems. */
  readonly verbose: boolean;
}

/**
 * Return the command that starts an adapter for this window. `token` is the token of the Ray cluster, if it has one.
 */
export function adapterCommand(python: string, log: Log, token?: string): Command {
  const verbose = log.verbose ? ['--verbose'] : [];
  return {
    command: python,
    args: ['-m', 'raydap', 'adapter', '--log-file', log.file, ...verbose],
    env: variable('RAY_AUTH_TOKEN', token),
  };
}

/** Return the command that connects to a hub. Without a token, raydap looks for the hub's connection file. */
export function connectCommand(python: string, url: string, token?: string): Command {
  return { command: python, args: ['-m', 'raydap', 'connect', url], env: variable('RAYDAP_TOKEN', token) };
}

/** Return the command that lists the clusters of this machine until its standard input ends. */
export function clusterListCommand(python: string): Command {
  return { command: python, args: ['-m', 'raydap', 'status', '--follow'], env: {} };
}

/** Return the command that prints the variables of a terminal whose programs raydap can debug. */
export function prepareCommand(python: string): Command {
  return { command: python, args: ['-m', 'raydap', 'prepare', '--json'], env: {} };
}

/** Return the command that starts the language server for this window. */
export function languageServerCommand(python: string): Command {
  return { command: python, args: ['-m', 'raydap', 'lsp'], env: {} };
}

/**
 * Return the command that serves coding agents. It runs in the user's folder, from which `python -m` would import files
 * first; from Python 3.11 on, an option prevents that. `version` is that of Python, if it is known.
 */
export function mcpCommand(python: string, version = ''): Command {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isSafe = major > 3 || (major === 3 && minor >= 11);
  return { command: python, args: [...(isSafe ? ['-P'] : []), '-m', 'raydap', 'mcp'], env: {} };
}

/**
 * Return the command that checks a cluster and prints its findings. `dashboard` is the address of the cluster, empty for
 * the one that raydap finds; `breakpoints` are those that are not hit, such as `/app/train.py:5`.
 */
export function doctorCommand(
  python: string,
  dashboard: string,
  breakpoints: readonly string[],
  token?: string,
): Command {
  const cluster = dashboard === '' ? [] : ['--dashboard', dashboard];
  const breaks = breakpoints.flatMap((place) => ['--break', place]);
  return {
    command: python,
    args: ['-m', 'raydap', 'doctor', '--json', ...cluster, ...breaks],
    env: variable('RAY_AUTH_TOKEN', token),
  };
}

/** An installation of raydap. */
export interface Installation {
  readonly python: string;
  /** The version of the extension, which is that of raydap. */
  readonly version: string;
  readonly installer?: 'uv';
}

/** Return the command that installs raydap; each element is one argument. */
export function installCommand({ python, version, installer }: Installation): readonly string[] {
  const requirement = `raydap==${version}`;
  return installer === 'uv'
    ? ['uv', 'pip', 'install', '--python', python, requirement]
    : [python, '-m', 'pip', 'install', requirement];
}

/** Return the words as one line, quoted so that a POSIX shell reads the same words. */
export function shellLine(words: readonly string[]): string {
  return words.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)).join(' ');
}

function variable(name: string, value: string | undefined): Record<string, string> {
  return value === undefined || value === '' ? {} : { [name]: value };
}
