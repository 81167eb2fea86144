/** Debug configurations: the offered ones, and the values that are filled in before a session starts. */

import { hubUrlError } from './hub-url';

/** The arguments of `attach` or `launch`, with VS Code's own keys. */
export interface Configuration {
  type: string;
  name: string;
  request: string;
  [key: string]: unknown;
}

/** The values of keys that a configuration leaves out. */
export interface Defaults {
  /** The path of the open folder; undefined if no folder is open. */
  readonly workspaceFolder: string | undefined;
  /** The setting raydap.dashboard; undefined if it is empty. */
  readonly dashboard: string | undefined;
}

/**
 * The key that holds the hub's URL. A key that begins with two underscores is the extension's own; raydap ignores it.
 */
export const HUB = '__hub';

/** The key that is true for a client that joins the present session of a hub, whatever that session debugs. */
export const JOIN = '__join';

export const ATTACH: Configuration = { type: 'raydap', request: 'attach', name: 'Attach to Ray cluster' };

export const DEBUG_FILE: Configuration = {
  type: 'raydap',
  request: 'launch',
  name: 'Debug current file on Ray',
  program: '${file}',
};

export const SUBMIT_FILE: Configuration = {
  type: 'raydap',
  request: 'launch',
  name: 'Submit as Ray job',
  program: '${file}',
  submit: true,
};

/** The configurations that the extension offers, each with the line that explains it in a list. */
export const OFFERED = [
  { configuration: ATTACH, detail: 'All paused workers, and all their later stops, in one session' },
  { configuration: DEBUG_FILE, detail: 'Run this file as the driver and debug its workers' },
  { configuration: SUBMIT_FILE, detail: 'Run this file on the cluster, with its folder as working_dir' },
] as const;

/** Return whether a configuration is empty. VS Code passes an empty one if there is no launch.json. */
export function isEmpty(configuration: Partial<Configuration>): boolean {
  return configuration.request === undefined;
}

/**
 * Return whether VS Code itself connects to a debug server: a raydap that the user has started, or the server of a
 * child session. Such a configuration gets no defaults.
 */
export function hasDebugServer(configuration: Partial<Configuration>): boolean {
  return configuration.debugServer !== undefined;
}

/** Return a configuration with its defaults. Some of them are variables, which VS Code replaces afterwards. */
export function withDefaults(given: Configuration, defaults: Defaults): Configuration {
  if (given[JOIN] === true) {
    return withoutArguments(given);
  }
  const completed = { ...given };
  if (defaults.workspaceFolder !== undefined) {
    completed.workspaceFolder ??= defaults.workspaceFolder;
  }
  if (given.request === 'launch') {
    completed.cwd ??= defaults.workspaceFolder ?? '${fileDirname}';
  }
  if (defaults.dashboard !== undefined && !['dashboard', 'workers', 'hub'].some((key) => key in given)) {
    completed.dashboard = defaults.dashboard;
  }
  return completed;
}

/**
 * Return a configuration without arguments for raydap: a client that joins a session must not choose what is debugged.
 */
function withoutArguments({ type, request, name, ...given }: Configuration): Configuration {
  const kept = Object.entries(given).filter(([key]) => key === 'hub' || key.startsWith('__'));
  return { type, request, name, ...Object.fromEntries(kept) };
}

/**
 * Return a configuration with the hub's URL in the extension's own key. Throw an Error with a sentence for the user if
 * it is not the URL of a hub.
 */
export function withHub(configuration: Configuration): Configuration {
  if (!('hub' in configuration)) {
    return configuration;
  }
  const { hub, ...rest } = configuration;
  const url = typeof hub === 'string' ? hub : JSON.stringify(hub);
  const error = hubUrlError(url);
  if (error !== undefined) {
    throw new Error(error);
  }
  return { ...rest, [HUB]: url };
}

/** Return the hub's URL that withHub has stored; undefined without a hub. */
export function hubOf(configuration: Partial<Configuration>): string | undefined {
  const url = configuration[HUB];
  return typeof url === 'string' ? url : undefined;
}

/** Return the address of the cluster. The token of the cluster is stored under this address. */
export function clusterAddressOf(configuration: Partial<Configuration>): string {
  return typeof configuration.dashboard === 'string' ? configuration.dashboard : 'auto';
}
