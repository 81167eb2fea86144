/** Debug configurations: the ones that are offered, and what is filled in before a session starts. */

import { complaint } from './hub';

/** What travels to the bridge as the arguments of `attach` or `launch`, and VS Code's own keys. */
export interface Configuration {
  type: string;
  name: string;
  request: string;
  [key: string]: unknown;
}

/** Where the configuration is used. `workspaceFolder` is undefined if no folder is open. */
export interface Place {
  readonly workspaceFolder: string | undefined;
  readonly dashboard: string | undefined;
}

/** Keys with two underscores are for the extension; the bridge drops them. */
export const HUB = '__hub';

/** The key that says that a hub's session is joined as it is. */
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

/** A child session, or a bridge that was started by hand: VS Code connects by itself, and nothing is to be filled in. */
export function isServed(configuration: Partial<Configuration>): boolean {
  return configuration.debugServer !== undefined;
}

/** Fills in what was not said, with variables that VS Code replaces afterwards. */
export function complete(given: Configuration, place: Place): Configuration {
  if (given[JOIN] === true) {
    return joining(given);
  }
  const completed = { ...given };
  if (place.workspaceFolder !== undefined) {
    completed.workspaceFolder ??= place.workspaceFolder;
  }
  if (given.request === 'launch') {
    completed.cwd ??= place.workspaceFolder ?? '${fileDirname}';
  }
  if (place.dashboard !== undefined && !['dashboard', 'workers', 'hub'].some((key) => key in given)) {
    completed.dashboard = place.dashboard;
  }
  return completed;
}

/** Whoever joins a session says nothing of what is debugged. */
function joining({ type, request, name, ...given }: Configuration): Configuration {
  const ours = Object.entries(given).filter(([key]) => key === 'hub' || key.startsWith('__'));
  return { type, request, name, ...Object.fromEntries(ours) };
}

/** The hub's URL becomes the extension's own key. Raises an Error with a sentence for the user if it is none. */
export function withHub(configuration: Configuration): Configuration {
  if (!('hub' in configuration)) {
    return configuration;
  }
  const { hub, ...rest } = configuration;
  const url = typeof hub === 'string' ? hub : JSON.stringify(hub);
  const wrong = complaint(url);
  if (wrong !== undefined) {
    throw new Error(wrong);
  }
  return { ...rest, [HUB]: url };
}

export function hubOf(configuration: Partial<Configuration>): string | undefined {
  const url = configuration[HUB];
  return typeof url === 'string' ? url : undefined;
}
