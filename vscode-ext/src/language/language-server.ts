/** raydap's language server for the Python files of this window. */

import * as vscode from 'vscode';
import type { LanguageClient, LanguageClientOptions } from 'vscode-languageclient/node';

import { findSelectedInterpreter, onDidChangeInterpreter } from '../debug/selected-interpreter';
import { languageServerCommand } from '../process/command';

const SECTION = 'raydap.languageServer';

const DOCUMENTS = [
  { scheme: 'file', language: 'python' },
  { scheme: 'untitled', language: 'python' },
  { scheme: 'file', language: 'jsonc', pattern: '**/.vscode/launch.json' },
];

const MAX_RESTARTS = 3;

/** The commands of views/lens-commands.ts, which the server offers above functions. */
const LENS_COMMANDS = ['raydap.continueStopped', 'raydap.stepStopped', 'raydap.compareStopped'];

/**
 * The client of the language server. It starts the server when the first Python file is opened, with the interpreter of
 * its folder. If the server cannot be started, only its log contains the reason: a user who opens a file may not want
 * raydap at all, and a debug session reports a problem of the interpreter in a message. The next attempt is made when
 * the settings or the interpreter change, or a debug session starts.
 */
export class LanguageServer implements vscode.Disposable {
  private readonly output = vscode.window.createOutputChannel('raydap language server', { log: true });
  /** The item behind the braces in the status bar of a Python file. */
  private readonly status = vscode.languages.createLanguageStatusItem('raydap', [{ language: 'python' }]);
  private readonly subscriptions: { dispose(): unknown }[];
  private client: LanguageClient | undefined;
  /** The keys of the workers that lenses count; undefined for all. */
  private counted: readonly string[] | undefined;
  /** Whether there was an attempt to start the server, so that not every document starts a Python process. */
  private isAttempted = false;
  /** The subscription to changes of the selected interpreter. */
  private changes: vscode.Disposable | undefined;
  /** The latest start, stop or configuration. Each waits for the one before, so that only one server runs at a time. */
  private last: Promise<void> = Promise.resolve();

  /** `cwd` must have no Python files of the user, which `python -m` would import first. */
  constructor(private readonly cwd: string) {
    this.status.name = this.status.text = 'raydap language server';
    this.status.command = { command: 'raydap.restartLanguageServer', title: 'Restart' };
    this.subscriptions = [
      this.output,
      this.status,
      vscode.workspace.onDidOpenTextDocument((document) => {
        if (!this.isAttempted && isPython(document)) {
          this.run(() => this.start());
        }
      }),
      vscode.debug.onDidStartDebugSession(({ type }) => {
        if (type === 'raydap' && this.client === undefined) {
          this.run(() => this.restart());
        }
      }),
      vscode.workspace.onDidChangeConfiguration((change) => {
        if (change.affectsConfiguration(`${SECTION}.enabled`) || change.affectsConfiguration('raydap.python')) {
          this.run(() => this.restart());
        } else if (change.affectsConfiguration(SECTION)) {
          this.run(() => this.configure());
        }
      }),
    ];
    this.run(() => this.start());
  }

  /** Stop the server. VS Code awaits this promise when the window closes, so that the server is shut down properly. */
  async dispose(): Promise<void> {
    vscode.Disposable.from(...this.subscriptions).dispose();
    this.changes?.dispose();
    await this.last;
    await this.stop();
  }

  /** Let lenses and hovers count only the workers with these keys, or all. */
  countWorkers(keys: readonly string[] | undefined): void {
    this.counted = keys;
    this.run(() => this.configure());
  }

  private run(change: () => Promise<void>): void {
    this.last = this.last.then(change).catch((error: unknown) => this.output.warn(String(error)));
  }

  /** The commands of the language server. */
  readonly commands = {
    restartLanguageServer: async () => {
      this.run(() => this.restart());
      await this.last;
    },
    showLanguageServerLog: () => this.output.show(),
  };

  private async restart(): Promise<void> {
    await this.stop();
    this.isAttempted = false;
    await this.start();
  }

  private setStatus(detail: string, severity: vscode.LanguageStatusSeverity): void {
    Object.assign(this.status, { detail, severity });
  }

  private async start(): Promise<void> {
    const document = vscode.workspace.textDocuments.find(isPython);
    const isEnabled = vscode.workspace.getConfiguration(SECTION).get<boolean>('enabled', true);
    if (this.isAttempted || !isEnabled || document === undefined) {
      return;
    }
    this.isAttempted = true;
    const folder = vscode.workspace.getWorkspaceFolder(document.uri) ?? vscode.workspace.workspaceFolders?.[0];
    const finding = await findSelectedInterpreter(folder);
    this.changes ??= await onDidChangeInterpreter(() => this.run(() => this.restart()));
    if (finding.kind !== 'ready') {
      this.output.info(`The language server was not started: ${finding.python} cannot run raydap (${finding.kind}).`);
      this.setStatus(`not started: ${finding.python} cannot run raydap`, vscode.LanguageStatusSeverity.Information);
      return;
    }
    const { command, args } = languageServerCommand(finding.python);
    // Loading the client takes longer than everything else that happens at activation.
    const { LanguageClient, RevealOutputChannelOn } = await import('vscode-languageclient/node');
    const client = new LanguageClient(
      SECTION,
      'raydap language server',
      { command, args: [...args], options: { cwd: this.cwd } },
      { ...this.options(), revealOutputChannelOn: RevealOutputChannelOn.Never },
    );
    this.client = client;
    try {
      await client.start();
      this.setStatus(`running in ${finding.python}`, vscode.LanguageStatusSeverity.Information);
    } catch (error) {
      this.client = undefined;
      this.setStatus('not started: its log contains the reason', vscode.LanguageStatusSeverity.Warning);
      throw error;
    }
  }

  private async configure(): Promise<void> {
    const settings = { raydap: { languageServer: this.serverSettings() } };
    await this.client?.sendNotification('workspace/didChangeConfiguration', { settings });
  }

  private options(): LanguageClientOptions {
    return {
      documentSelector: DOCUMENTS,
      initializationOptions: this.serverSettings(),
      outputChannel: this.output,
      initializationFailedHandler: () => false,
      connectionOptions: { maxRestartCount: MAX_RESTARTS },
    };
  }

  private async stop(): Promise<void> {
    const { client } = this;
    this.client = undefined;
    await client?.dispose();
  }

  /** Return the settings in the form that the server expects. */
  private serverSettings(): object {
    const settings = vscode.workspace.getConfiguration(SECTION);
    return {
      ignore: settings.get<string[]>('ignore', []),
      live: settings.get<boolean>('live', true),
      commands: LENS_COMMANDS,
      workers: this.counted,
    };
  }
}

function isPython(document: vscode.TextDocument): boolean {
  return document.languageId === 'python' && ['file', 'untitled'].includes(document.uri.scheme);
}
