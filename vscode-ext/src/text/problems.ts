/** Problems that keep a session from starting, each as one sentence with the actions that may help. */

import { OLDEST_PYTHON, type InterpreterFinding } from '../model/interpreter-finding';
import type { Problem, ProblemAction } from '../model/problem';
import { errorCode, errorText, type Failure } from '../protocol/dap';
import { ErrorCode } from '../protocol/error-codes';

/** The labels of the buttons. */
export const ACTION_LABELS: Readonly<Record<ProblemAction, string>> = {
  install: 'Install raydap',
  copyInstall: 'Copy command',
  chooseInterpreter: 'Choose interpreter',
  changeDashboard: 'Change the dashboard URL',
  changeHub: "Change the hub's URL",
  enterClusterToken: 'Enter the token',
  enterHubToken: 'Enter the token',
  join: 'Join the session',
  showLog: 'Show log',
};

/** The actions for an error, by its number. VS Code shows all other errors itself. */
const ACTIONS: Readonly<Record<number, readonly ProblemAction[]>> = {
  [ErrorCode.OTHER_SESSION]: ['join'],
  [ErrorCode.NOT_ADMITTED]: ['enterHubToken'],
  [ErrorCode.NO_CLUSTER]: ['changeDashboard', 'showLog'],
  [ErrorCode.DASHBOARD_UNREACHABLE]: ['changeDashboard', 'showLog'],
  [ErrorCode.DASHBOARD_GARBAGE]: ['changeDashboard', 'showLog'],
  [ErrorCode.CLUSTER_NOT_NAMED]: ['changeDashboard'],
  [ErrorCode.TOKEN_WANTED]: ['enterClusterToken'],
  [ErrorCode.TOKEN_REFUSED]: ['enterClusterToken'],
  [ErrorCode.HUB_UNREACHABLE]: ['changeHub'],
  [ErrorCode.HUB_REFUSED]: ['enterHubToken'],
};

/** Return the problem of a session that could not be started; undefined if the extension has no action to offer. */
export function problemOfStart(failure: Failure): Problem | undefined {
  const actions = ACTIONS[errorCode(failure) ?? NaN];
  return actions && { text: errorText(failure), actions };
}

/** Return the problem of a failed request of the extension itself. VS Code does not show its error. */
export function problemOfRequest(failure: Failure): Problem {
  return problemOfStart(failure) ?? { text: errorText(failure), actions: ['showLog'] };
}

/** Return the problem in a notification from raydap. VS Code's own message has no button and is cut after one line. */
export function problemOfOutput(text: string): Problem {
  return { text, actions: ['showLog'] };
}

/** Return the problem of a raydap that has ended before it answered; undefined if it ended without an error. */
export function problemOfExit(code: number | undefined): Problem | undefined {
  return code === 0
    ? undefined
    : { text: `raydap ${endText(code)} before the session started.`, actions: ['showLog', 'chooseInterpreter'] };
}

/** Return the problem of an installation that has failed. `code` is the exit code of the installer. */
export function problemOfInstall(code: number | undefined, installer: 'pip' | 'uv' = 'pip'): Problem {
  return {
    text: `${installer} ${endText(code)}, so raydap is not installed. The terminal shows the reason.`,
    actions: ['copyInstall', 'chooseInterpreter'],
  };
}

function endText(code: number | undefined): string {
  return code === undefined ? 'was terminated' : `exited with code ${code}`;
}

/** Return the problem of an interpreter; undefined if it can run raydap. */
export function problemOfInterpreter(finding: InterpreterFinding): Problem | undefined {
  switch (finding.kind) {
    case 'ready':
      return undefined;
    case 'lacksRaydap': {
      const text = `raydap is not installed in Python ${finding.version} (${finding.python}).`;
      return { text, actions: ['install', 'copyInstall', 'chooseInterpreter'] };
    }
    case 'brokenRaydap': {
      const text = `raydap cannot be run in Python ${finding.version} (${finding.python}): ${finding.reason}.`;
      return { text, actions: ['install', 'chooseInterpreter'] };
    }
    case 'tooOld': {
      const text = `raydap needs Python ${OLDEST_PYTHON.join('.')} or newer, but ${finding.python} is Python ${finding.version}.`;
      return { text, actions: ['chooseInterpreter'] };
    }
    case 'broken': {
      const text = `The Python interpreter ${finding.python} cannot be run: ${finding.reason}.`;
      return { text, actions: ['chooseInterpreter'] };
    }
  }
}
