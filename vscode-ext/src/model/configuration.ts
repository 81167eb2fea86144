/** Debug configurations: those that are offered, and what is filled in before a session starts. */

import { hubUrlError } from './hub-url';

/** The arguments of `attach` or `launch`, with VS Code's own keys. */
export interface Configuration {
  type: string;
  name: string;
  request: string;
  [key: string]: unknown;
}

/** Values for keys that a configuration leaves out. `workspaceFolder` is undefined if no folder is open. */
export interface Defaults {
  readonly workspaceFolder: string | undefined;
  readonly dashboard: string | undefined;
}

/** The key with the hub's URL. Keys with two underscores are the extension's own, and raydap ignores them. */
export const HUB = '__hub';

/** The key that says to join a hub's session as it is. */
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

export const OFFERED = [
  { configuration: ATTACH, detail: 'All paused workers, and all their later stops, in one session' },
  { configuration: DEBUG_FILE, detail: 'Run this file as the driver and debug its workers' },
  { configuration: SUBMIT_FILE, detail: 'Run this file on the cluster, with its folder as working_dir' },
] as const;

/** VS Code asks with an empty configuration if there is no launch.json. */
export function isEmpty(configuration: Partial<Configuration>): boolean {
  return configuration.request === undefined;
}

/** Nothing is filled in then: VS Code itself connects to a child session, or to a raydap that the user has started. */
export function hasDebugServer(configuration: Partial<Configuration>): boolean {
  return configuration.debugServer !== undefined;
}

/** Fills in the defaults, some as variables that VS Code replaces afterwards. */
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

/** A client that joins a session may not say what is debugged. */
function withoutArguments({ type, request, name, ...given }: Configuration): Configuration {
  const kept = Object.entries(given).filter(([key]) => key === 'hub' || key.startsWith('__'));
  return { type, request, name, ...Object.fromEntries(kept) };
}

/** Moves the hub's URL to the extension's own key. Throws an Error with a sentence for the user if it is no such URL. */
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

export function hubOf(configuration: Partial<Configuration>): string | undefined {
  const url = configuration[HUB];
  return typeof url === 'string' ? url : undefined;
}

/** The address of the cluster; the token of the cluster is stored under it. */
export function clusterAddressOf(configuration: Partial<Configuration>): string {
  return typeof configuration.dashboard === 'string' ? configuration.dashboard : 'auto';
}
