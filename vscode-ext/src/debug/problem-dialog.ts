/** Messages about problems, with buttons for the actions that may help. */

import * as vscode from 'vscode';

import { clusterAddressOf, hubOf, JOIN, type Configuration } from '../model/configuration';
import { EXAMPLE, hubUrlError } from '../model/hub-url';
import type { InterpreterFinding } from '../model/interpreter-finding';
import type { Problem, ProblemAction } from '../model/problem';
import type { TokenStore } from '../model/token-store';
import { installCommand, shellLine, type Installation } from '../process/command';
import { ACTION_LABELS, problemOfInstall } from '../text/problems';
import { showingError } from './error-message';
import { chooseInterpreter, settingsTarget } from './selected-interpreter';
import { askClusterToken, askHubToken } from './token-prompt';

/** A failed attempt to start a session or to watch a cluster. It is repeated after the user has corrected something. */
export interface Attempt {
  readonly folder: vscode.WorkspaceFolder | undefined;
  readonly configuration: vscode.DebugConfiguration;
  /** The interpreter that was checked. If it is undefined, the install actions use `python3`. */
  readonly finding?: InterpreterFinding;
  /** The function that repeats the attempt with changed keys. If it is undefined, a debug session is started. */
  readonly retry?: (change: Partial<Configuration>) => unknown;
}

/** The configuration keys to change for the next attempt; undefined if there is to be no next attempt. */
type Change = Partial<Configuration> | undefined;

/** The type of the install task, as package.json declares it. */
const TASK = 'raydap';

/** The messages about problems, and the actions of their buttons. */
export class ProblemDialog {
  private readonly actions: Readonly<Record<ProblemAction, (attempt: Attempt) => Promise<Change>>> = {
    install: async (attempt) => {
      const command = this.installCommand(attempt);
      const code = await runInTerminal(command);
      if (code !== 0) {
        this.show(problemOfInstall(code, command[0] === 'uv' ? 'uv' : 'pip'), attempt);
      }
      return code === 0 ? {} : undefined;
    },
    copyInstall: async (attempt) => {
      await vscode.env.clipboard.writeText(shellLine(this.installCommand(attempt)));
      vscode.window.setStatusBarMessage('Command copied. Run it in a terminal, then start the session again.', 10_000);
      return undefined;
    },
    chooseInterpreter: async ({ folder }) => ((await chooseInterpreter(folder)) ? {} : undefined),
    changeDashboard: changeDashboard,
    changeHub: changeHub,
    enterClusterToken: async ({ configuration }) =>
      (await askClusterToken(this.tokens, clusterAddressOf(configuration))) ? {} : undefined,
    enterHubToken: async ({ configuration }) =>
      (await askHubToken(this.tokens, hubOf(configuration) ?? '')) ? {} : undefined,
    join: async () => Promise.resolve({ [JOIN]: true }),
    showLog: async () => {
      await this.showLog();
      return undefined;
    },
  };

  constructor(
    private readonly tokens: TokenStore,
    /** The log file of the adapters. */
    private readonly log: vscode.Uri,
    private readonly version: string,
  ) {}

  /**
   * Show a problem, without waiting for the user: a message may stay open indefinitely, and no session waits for it.
   */
  show(problem: Problem, attempt: Attempt): void {
    showingError(this.ask(problem, attempt));
  }

  /** Open the log file in an editor. Show a message if raydap has not written it yet. */
  async showLog(): Promise<void> {
    try {
      await vscode.window.showTextDocument(this.log);
    } catch {
      const text =
        'There is no log yet. raydap writes it when a session starts; for sessions of a hub, the hub writes it.';
      void vscode.window.showInformationMessage(text, 'OK');
    }
  }

  private installCommand({ finding }: Attempt): readonly string[] {
    const chosen: Omit<Installation, 'version'> = finding ?? { python: 'python3' };
    return installCommand({ ...chosen, version: this.version });
  }

  private async ask(problem: Problem, attempt: Attempt): Promise<void> {
    // A hub writes its log on its own machine.
    const hasLog = hubOf(attempt.configuration) === undefined;
    const actions = problem.actions.filter((action) => hasLog || action !== 'showLog');
    const buttons = actions.map((action) => ({ title: ACTION_LABELS[action], action }));
    // VS Code cuts a message without a button after its first line.
    const ok = { title: 'OK', action: undefined };
    const chosen = await vscode.window.showErrorMessage(problem.text, ...(buttons.length > 0 ? buttons : [ok]));
    const change = chosen?.action && (await this.actions[chosen.action](attempt));
    if (change === undefined) {
      return;
    }
    if (attempt.retry !== undefined) {
      await attempt.retry(change);
    } else {
      await vscode.debug.startDebugging(attempt.folder, { ...attempt.configuration, ...change });
    }
  }
}

/** Run a command in a terminal that the user sees. Return its exit code; undefined if its task was terminated. */
async function runInTerminal([command = '', ...args]: readonly string[]): Promise<number | undefined> {
  const task = new vscode.Task(
    { type: TASK },
    vscode.TaskScope.Workspace,
    'install raydap',
    'raydap',
    new vscode.ProcessExecution(command, args),
  );
  // Add the listener before the start: a Python without pip may exit before `executeTask` returns.
  const ended = new Map<vscode.TaskExecution, number | undefined>();
  let check = (): void => undefined;
  const subscription = vscode.tasks.onDidEndTaskProcess(({ execution, exitCode }) => {
    ended.set(execution, exitCode);
    check();
  });
  try {
    const started = await vscode.tasks.executeTask(task);
    await new Promise<void>((resolve) => {
      check = () => {
        if (ended.has(started)) {
          resolve();
        }
      };
      check();
    });
    return ended.get(started);
  } finally {
    subscription.dispose();
  }
}

/** Let the user enter another address of the cluster. */
async function changeDashboard({ folder, configuration }: Attempt): Promise<Change> {
  const settings = vscode.workspace.getConfiguration('raydap', folder);
  const current = configuration.dashboard as string | undefined;
  const dashboard = await vscode.window.showInputBox({
    title: 'Address of the Ray cluster',
    prompt: 'The URL of the Ray dashboard, or a Ray address.',
    value: current ?? 'http://127.0.0.1:8265',
    ignoreFocusOut: true,
  });
  if (dashboard === undefined || dashboard.trim() === '') {
    return undefined;
  }
  // Store the address for later sessions, too, unless launch.json names a dashboard of its own.
  if (current === undefined || current === settings.get('dashboard')) {
    await settings.update('dashboard', dashboard.trim(), settingsTarget(folder));
  }
  return { dashboard: dashboard.trim() };
}

/** Let the user enter another URL of the hub. */
async function changeHub({ configuration }: Attempt): Promise<Change> {
  const current = hubOf(configuration) ?? (configuration.hub as string | undefined);
  const hub = await vscode.window.showInputBox({
    title: 'URL of the hub',
    prompt: `For example ${EXAMPLE}.`,
    value: typeof current === 'string' ? current : '',
    ignoreFocusOut: true,
    validateInput: hubUrlError,
  });
  return hub === undefined ? undefined : { hub };
}
