/** What can keep a session from starting, each as one sentence with the next steps. */

import { OLDEST_PYTHON, type Finding } from './interpreter';

export type Step =
  | 'install'
  | 'copyInstall'
  | 'chooseInterpreter'
  | 'changeDashboard'
  | 'changeHub'
  | 'enterClusterToken'
  | 'enterHubToken'
  | 'join'
  | 'showLog';

export interface Problem {
  readonly text: string;
  /** Buttons, the most likely one first. */
  readonly steps: readonly Step[];
}

/** Labels of the buttons. */
export const LABELS: Readonly<Record<Step, string>> = {
  install: 'Install raydap',
  copyInstall: 'Copy command',
  chooseInterpreter: 'Choose interpreter',
  changeDashboard: 'Change the dashboard URL',
  changeHub: "Change the hub's URL",
  enterClusterToken: 'Enter the token',
  enterHubToken: 'Enter the token',
  join: 'Join it',
  showLog: 'Show log',
};

/** By raydap's number of the error (docs/errors.md); every other error is shown by VS Code itself. */
const STEPS: Readonly<Record<number, readonly Step[]>> = {
  1007: ['join'],
  1011: ['enterHubToken'],
  2001: ['changeDashboard', 'showLog'],
  2002: ['changeDashboard', 'showLog'],
  2003: ['changeDashboard', 'showLog'],
  2004: ['enterClusterToken'],
  2005: ['enterClusterToken'],
  5001: ['changeHub'],
  5002: ['enterHubToken'],
};

/** With these requests a session starts; what fails later is shown by VS Code where it belongs. */
const STARTS = ['initialize', 'attach', 'launch'];

/** A failed response, as far as it is read here (spec: ErrorResponse). */
export interface Failure {
  type: 'response';
  success: false;
  command: string;
  message?: string;
  body?: { error?: { id?: number; format?: string; showUser?: boolean } };
}

export function isFailure(message: unknown): message is Failure {
  const { type, success } = message as Partial<Failure>;
  return type === 'response' && success === false;
}

export function isFailedStart(message: unknown): message is Failure {
  return isFailure(message) && STARTS.includes(message.command);
}

/**
 * Keeps VS Code from showing this failure itself (spec: Message, `showUser`). It shows that of configurationDone in any
 * case; where the start has failed already, nothing depends on it, so it becomes a success.
 */
export function silence(failure: Failure): void {
  if (failure.command === 'configurationDone') {
    Object.assign(failure, { success: true });
  }
  failure.body = { ...failure.body, error: { ...failure.body?.error, showUser: false } };
}

/** From this answer on the Ray view hears of this session's workers. */
export function isListing(message: unknown): boolean {
  const { type, command, success } = message as { type?: string; command?: string; success?: boolean };
  return type === 'response' && command === 'raydap/workers' && success === true;
}

/**
 * VS Code makes a notification of each `important` output. Of workers that are lost the Ray view makes one for all of
 * them, so this becomes a line of the console only.
 */
export function hush(message: unknown): void {
  const { event, body } = message as { event?: string; body?: { category?: string; output?: string } };
  if (event === 'output' && body?.category === 'important' && body.output?.includes('[raydap 3003]') === true) {
    body.category = 'console';
  }
}

/** Undefined if there is no next step to offer. */
export function ofFailure(failure: Failure): Problem | undefined {
  const steps = STEPS[numberOf(failure)];
  return steps === undefined ? undefined : { text: textOf(failure), steps };
}

/** Raydap's number of the error; NaN if it has none. */
export function numberOf(failure: Failure): number {
  return failure.body?.error?.id ?? Number(/\[raydap (\d+)\]/.exec(textOf(failure))?.[1]);
}

function textOf(failure: Failure): string {
  return failure.body?.error?.format ?? failure.message ?? '';
}

/** The bridge has ended before it answered; undefined if it did so by intention. */
export function ofExit(code: number | undefined): Problem | undefined {
  if (code === 0) {
    return undefined;
  }
  const how = code === undefined ? 'was ended' : `ended with code ${code}`;
  return { text: `raydap ${how} before the session began.`, steps: ['showLog', 'chooseInterpreter'] };
}

/** pip has not installed raydap. */
export function ofInstall(code: number | undefined): Problem {
  const how = code === undefined ? 'was ended' : `ended with code ${code}`;
  return {
    text: `pip ${how}, and raydap is not installed; the terminal says why.`,
    steps: ['copyInstall', 'chooseInterpreter'],
  };
}

/** Undefined if the interpreter can run the bridge. */
export function ofInterpreter(finding: Finding): Problem | undefined {
  switch (finding.kind) {
    case 'ready':
      return undefined;
    case 'lacksRaydap': {
      const text = `raydap is not installed in Python ${finding.version} (${finding.python}).`;
      return { text, steps: ['install', 'copyInstall', 'chooseInterpreter'] };
    }
    case 'brokenRaydap': {
      const text = `raydap cannot be run in Python ${finding.version} (${finding.python}): ${finding.reason}.`;
      return { text, steps: ['install', 'chooseInterpreter'] };
    }
    case 'tooOld': {
      const text = `raydap needs Python ${OLDEST_PYTHON.join('.')} or newer; ${finding.python} is ${finding.version}.`;
      return { text, steps: ['chooseInterpreter'] };
    }
    case 'broken': {
      const text = `The Python interpreter ${finding.python} cannot be run: ${finding.reason}.`;
      return { text, steps: ['chooseInterpreter'] };
    }
  }
}
