/** raydap's language server for the Python files of this window. */

import * as vscode from 'vscode';
import { LanguageClient, RevealOutputChannelOn, type LanguageClientOptions } from 'vscode-languageclient/node';

import { findSelectedInterpreter } from '../debug/selected-interpreter';
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
 * The client of the language server. It starts the server when the first Python file is opened. If the server cannot be
 * started, only its log contains the reason: a user who opens a file may not want raydap at all, and a debug session
 * reports a problem of the interpreter in a message.
 */
export class LanguageServer implements vscode.Disposable {
  private readonly output = vscode.window.createOutputChannel('raydap language server', { log: true });
  private readonly subscriptions: { dispose(): unknown }[];
  private client: LanguageClient | undefined;
  /** The latest start, stop or configuration. Each waits for the one before, so that only one server runs at a time. */
  private last: Promise<void> = Promise.resolve();

  /** `cwd` must have no Python files of the user, which `python -m` would import first. */
  constructor(private readonly cwd: string) {
    this.subscriptions = [
      this.output,
      vscode.workspace.onDidOpenTextDocument((document) => {
        if (this.client === undefined && isPython(document)) {
          this.run(() => this.start());
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
    if (vscode.workspace.textDocuments.some(isPython)) {
      this.run(() => this.start());
    }
  }

  /** Stop the server. VS Code awaits this promise when the window closes, so that the server is shut down properly. */
  async dispose(): Promise<void> {
    vscode.Disposable.from(...this.subscriptions).dispose();
    await this.last;
    await this.stop();
  }

  private run(change: () => Promise<void>): void {
    this.last = this.last.then(change).catch((error: unknown) => this.output.warn(String(error)));
  }

  private async restart(): Promise<void> {
    await this.stop();
    if (vscode.workspace.textDocuments.some(isPython)) {
      await this.start();
    }
  }

  private async start(): Promise<void> {
    if (this.client !== undefined || !vscode.workspace.getConfiguration(SECTION).get<boolean>('enabled', true)) {
      return;
    }
    const finding = await findSelectedInterpreter(vscode.workspace.workspaceFolders?.[0]);
    if (finding.kind !== 'ready') {
      this.output.info(`The language server was not started: ${finding.python} cannot run raydap (${finding.kind}).`);
      return;
    }
    const { command, args } = languageServerCommand(finding.python);
    const client = new LanguageClient(
      SECTION,
      'raydap language server',
      { command, args: [...args], options: { cwd: this.cwd } },
      this.options(),
    );
    this.client = client;
    try {
      await client.start();
    } catch (error) {
      this.client = undefined;
      throw error;
    }
  }

  private async configure(): Promise<void> {
    const settings = { raydap: { languageServer: serverSettings() } };
    await this.client?.sendNotification('workspace/didChangeConfiguration', { settings });
  }

  private options(): LanguageClientOptions {
    return {
      documentSelector: DOCUMENTS,
      initializationOptions: serverSettings(),
      outputChannel: this.output,
      revealOutputChannelOn: RevealOutputChannelOn.Never,
      initializationFailedHandler: () => false,
      connectionOptions: { maxRestartCount: MAX_RESTARTS },
    };
  }

  private async stop(): Promise<void> {
    const { client } = this;
    this.client = undefined;
    await client?.dispose();
  }
}

/** Return the settings in the form that the server expects. */
function serverSettings(): object {
  const settings = vscode.workspace.getConfiguration(SECTION);
  return {
    ignore: settings.get<string[]>('ignore', []),
    live: settings.get<boolean>('live', true),
    commands: LENS_COMMANDS,
  };
}

function isPython(document: vscode.TextDocument): boolean {
  return document.languageId === 'python' && ['file', 'untitled'].includes(document.uri.scheme);
}
