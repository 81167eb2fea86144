/** Shows a problem as one message, and does what its buttons say. */

import * as vscode from 'vscode';

import { hubOf, JOIN, type Configuration } from '../bridge/configuration';
import { install, shellLine } from '../bridge/command';
import { complaint, EXAMPLE } from '../bridge/hub';
import { LABELS, ofInstall, type Problem, type Step } from '../bridge/problems';
import type { Tokens } from '../bridge/tokens';
import { chooseInterpreter, settingsOf } from './python';

/** A session that could not be started, to be started again when the user has repaired what was wrong. */
export interface Attempt {
  readonly folder: vscode.WorkspaceFolder | undefined;
  readonly configuration: vscode.DebugConfiguration;
  /** The interpreter that was asked. */
  readonly python?: string;
  /** What to do again if it is no session. */
  readonly again?: (change: Partial<Configuration>) => unknown;
}

/** Of package.json's taskDefinitions. */
const TASK = 'raydap';

/** What is changed in the configuration for the next attempt; undefined if there is to be none. */
type Change = Partial<Configuration> | undefined;

export class Remedies {
  private readonly steps: Readonly<Record<Step, (attempt: Attempt) => Promise<Change>>> = {
    install: async (attempt) => {
      const code = await installRaydap(attempt);
      if (code !== 0) {
        this.show(ofInstall(code), attempt);
      }
      return code === 0 ? {} : undefined;
    },
    copyInstall: copyInstall,
    chooseInterpreter: async ({ folder }) => ((await chooseInterpreter(folder)) ? {} : undefined),
    changeDashboard: changeDashboard,
    changeHub: changeHub,
    enterClusterToken: async ({ configuration }) =>
      (await askClusterToken(this.tokens, clusterOf(configuration))) ? {} : undefined,
    enterHubToken: async ({ configuration }) =>
      (await askHubToken(this.tokens, hubOf(configuration) ?? '')) ? {} : undefined,
    join: async () => Promise.resolve({ [JOIN]: true }),
    showLog: async () => {
      await this.showLog();
      return undefined;
    },
  };

  constructor(
    private readonly tokens: Tokens,
    private readonly log: vscode.Uri,
  ) {}

  /** Returns at once: a message may stay open for as long as the user likes, and no session waits for it. */
  show(problem: Problem, attempt: Attempt): void {
    void this.ask(problem, attempt);
  }

  async showLog(): Promise<void> {
    try {
      await vscode.window.showTextDocument(this.log);
    } catch {
      void vscode.window.showInformationMessage('The log is empty: raydap has written nothing since VS Code started.');
    }
  }

  private async ask(problem: Problem, attempt: Attempt): Promise<void> {
    const buttons = problem.steps.map((step) => ({ title: LABELS[step], step }));
    const chosen = await vscode.window.showErrorMessage(problem.text, ...buttons);
    const change = chosen && (await this.steps[chosen.step](attempt));
    if (change === undefined) {
      return;
    }
    if (attempt.again !== undefined) {
      await attempt.again(change);
    } else {
      await vscode.debug.startDebugging(attempt.folder, { ...attempt.configuration, ...change });
    }
  }
}

/** The address under which the token of a configuration's cluster is kept. */
export function clusterOf(configuration: Partial<Configuration>): string {
  return typeof configuration.dashboard === 'string' ? configuration.dashboard : 'auto';
}

/** False if the user has dismissed the question. An empty answer is kept: there is no token. */
export async function askHubToken(tokens: Tokens, hub: string): Promise<boolean> {
  const prompt = 'Leave it empty for a hub of your own on this machine, or for one without a token.';
  return askToken(tokens, hub, { title: `Token of the hub ${hub}`, prompt });
}

async function askClusterToken(tokens: Tokens, cluster: string): Promise<boolean> {
  return askToken(tokens, cluster, { title: 'Token of the Ray cluster', prompt: 'It is kept in the secret storage.' });
}

async function askToken(tokens: Tokens, address: string, words: { title: string; prompt: string }): Promise<boolean> {
  const token = await vscode.window.showInputBox({ ...words, password: true, ignoreFocusOut: true });
  if (token === undefined) {
    return false;
  }
  await tokens.keep(address, token.trim());
  return true;
}

/** Runs pip where the user sees it. Returns its exit code; undefined if it was ended. */
async function installRaydap({ python = 'python3' }: Attempt): Promise<number | undefined> {
  const [command, ...args] = install(python) as [string, ...string[]];
  const task = new vscode.Task(
    { type: TASK },
    vscode.TaskScope.Workspace,
    'install raydap',
    'pip',
    new vscode.ProcessExecution(command, args),
  );
  // Listened for before it begins: a Python without pip ends at once.
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
  await vscode.env.clipboard.writeText(shellLine(install(python)));
  vscode.window.setStatusBarMessage('Copied: run it in a terminal, then start again', 10_000);
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
  // What a launch.json says stays as it is; otherwise the next session finds the same cluster.
  if (current === undefined || current === settings.get('dashboard')) {
    await settings.update('dashboard', dashboard.trim(), settingsOf(folder));
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
    validateInput: complaint,
  });
  return hub === undefined ? undefined : { hub };
}
