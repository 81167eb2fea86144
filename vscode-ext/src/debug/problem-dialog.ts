/** Shows a problem as one message, and performs the action that the user chooses. */

import * as vscode from 'vscode';

import { clusterAddressOf, hubOf, JOIN, type Configuration } from '../model/configuration';
import { EXAMPLE, hubUrlError } from '../model/hub-url';
import type { Problem, ProblemAction } from '../model/problem';
import type { TokenStore } from '../model/token-store';
import { installCommand, shellLine } from '../process/command';
import { ACTION_LABELS, problemOfInstall } from '../text/problems';
import { showingError } from './error-message';
import { chooseInterpreter, settingsTarget } from './selected-interpreter';
import { askClusterToken, askHubToken } from './token-prompt';

/** An attempt that has failed. It is made again when the user has corrected something. */
export interface Attempt {
  readonly folder: vscode.WorkspaceFolder | undefined;
  readonly configuration: vscode.DebugConfiguration;
  /** The interpreter that was probed. */
  readonly python?: string;
  /** Tries again; without it a session is started. */
  readonly retry?: (change: Partial<Configuration>) => unknown;
}

/** Changes of the configuration for the next attempt; undefined if there is no next attempt. */
type Change = Partial<Configuration> | undefined;

/** The type of the task, as package.json declares it. */
const TASK = 'raydap';

export class ProblemDialog {
  private readonly actions: Readonly<Record<ProblemAction, (attempt: Attempt) => Promise<Change>>> = {
    install: async (attempt) => {
      const code = await installRaydap(attempt);
      if (code !== 0) {
        this.show(problemOfInstall(code), attempt);
      }
      return code === 0 ? {} : undefined;
    },
    copyInstall: copyInstall,
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
    private readonly log: vscode.Uri,
  ) {}

  /** Returns at once: a message may stay open for as long as the user likes, and no session waits for it. */
  show(problem: Problem, attempt: Attempt): void {
    showingError(this.ask(problem, attempt));
  }

  async showLog(): Promise<void> {
    try {
      await vscode.window.showTextDocument(this.log);
    } catch {
      void vscode.window.showInformationMessage('raydap has written no log yet.');
    }
  }

  private async ask(problem: Problem, attempt: Attempt): Promise<void> {
    const buttons = problem.actions.map((action) => ({ title: ACTION_LABELS[action], action }));
    const chosen = await vscode.window.showErrorMessage(problem.text, ...buttons);
    const change = chosen && (await this.actions[chosen.action](attempt));
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

/** Runs pip where the user sees it. Returns its exit code; undefined if it was ended. */
async function installRaydap({ python = 'python3' }: Attempt): Promise<number | undefined> {
  const [command, ...args] = installCommand(python) as [string, ...string[]];
  const task = new vscode.Task(
    { type: TASK },
    vscode.TaskScope.Workspace,
    'install raydap',
    'pip',
    new vscode.ProcessExecution(command, args),
  );
  // The listener comes before the start: a Python without pip ends at once.
  return new Promise((resolve, reject) => {
    const subscription = vscode.tasks.onDidEndTaskProcess(({ execution, exitCode }) => {
      if (execution.task.definition.type === TASK) {
        subscription.dispose();
        resolve(exitCode);
      }
    });
    vscode.tasks.executeTask(task).then(undefined, reject);
  });
}

async function copyInstall({ python = 'python3' }: Attempt): Promise<Change> {
  await vscode.env.clipboard.writeText(shellLine(installCommand(python)));
  vscode.window.setStatusBarMessage('Copied: run the command in a terminal, then start again', 10_000);
  return undefined;
}

async function changeDashboard({ folder, configuration }: Attempt): Promise<Change> {
  const settings = vscode.workspace.getConfiguration('raydap', folder);
  const current = configuration.dashboard as string | undefined;
  const dashboard = await vscode.window.showInputBox({
    title: 'The Ray dashboard',
    prompt: 'URL of the dashboard, or a Ray address.',
    value: current ?? 'http://127.0.0.1:8265',
    ignoreFocusOut: true,
  });
  if (dashboard === undefined || dashboard.trim() === '') {
    return undefined;
  }
  // The setting is for the next sessions, too. A launch.json that names a dashboard is not changed.
  if (current === undefined || current === settings.get('dashboard')) {
    await settings.update('dashboard', dashboard.trim(), settingsTarget(folder));
  }
  return { dashboard: dashboard.trim() };
}

async function changeHub({ configuration }: Attempt): Promise<Change> {
  const current = hubOf(configuration) ?? (configuration.hub as string | undefined);
  const hub = await vscode.window.showInputBox({
    title: 'The hub',
    prompt: `Its URL, like ${EXAMPLE}.`,
    value: typeof current === 'string' ? current : '',
    ignoreFocusOut: true,
    validateInput: hubUrlError,
  });
  return hub === undefined ? undefined : { hub };
}
