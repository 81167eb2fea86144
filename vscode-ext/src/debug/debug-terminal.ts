/** The Ray Debug Terminal. A program in it that joins a Ray cluster asks for a debug session, and waits for it. */

import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';

import * as vscode from 'vscode';

import { ATTACH } from '../model/configuration';
import { prepareCommand } from '../process/command';
import { isResponseTo } from '../protocol/dap';
import { problemOfInterpreter } from '../text/problems';
import { showingError } from './error-message';
import type { ProblemDialog } from './problem-dialog';
import { findSelectedInterpreter } from './selected-interpreter';

/** The configuration key that holds the number of a TerminalSession. raydap ignores it. */
const NUMBER = '__terminal';

/** What a program sends when it has joined a cluster (adapter/raydap/inworker/terminal_session.py). */
interface Request {
  readonly program: string;
  /** The address of the cluster. */
  readonly cluster: string;
}

/** The session for the programs of one cluster. It ends with the last of them. */
class TerminalSession {
  readonly programs = new Set<Socket>();
  session: vscode.DebugSession | undefined;
  private isReady = false;

  constructor(
    readonly number: number,
    readonly cluster: string,
  ) {}

  add(program: Socket): void {
    this.programs.add(program);
    if (this.isReady) {
      program.write('\n');
    }
  }

  /** Let the programs continue: the breakpoints are set, or there will be no session. */
  release(): void {
    this.isReady = true;
    this.programs.forEach((program) => program.write('\n'));
  }

  /** End the session if no program is left. */
  endIfUnused(): void {
    if (this.programs.size === 0 && this.session !== undefined) {
      showingError(vscode.debug.stopDebugging(this.session));
    }
  }
}

/** The terminals of this window, and their sessions. */
export class DebugTerminal
  implements vscode.TerminalProfileProvider, vscode.DebugAdapterTrackerFactory, vscode.Disposable
{
  private readonly sessions = new Set<TerminalSession>();
  private readonly programs = new Set<Socket>();
  private count = 0;
  private server: Server | undefined;
  /** The folder of the socket, which only this user can enter. */
  private folder = '';

  constructor(
    private readonly problems: Pick<ProblemDialog, 'show'>,
    private readonly currentFolder: () => vscode.WorkspaceFolder | undefined,
  ) {}

  async open(): Promise<void> {
    const options = await this.options();
    if (options !== undefined) {
      vscode.window.createTerminal(options).show();
    }
  }

  async provideTerminalProfile(): Promise<vscode.TerminalProfile | undefined> {
    const options = await this.options();
    return options && new vscode.TerminalProfile(options);
  }

  /** Watch the start and the end of a session that a program has asked for. */
  createDebugAdapterTracker(session: vscode.DebugSession): vscode.DebugAdapterTracker | undefined {
    const own = [...this.sessions].find(({ number }) => session.configuration[NUMBER] === number);
    if (own === undefined || session.parentSession !== undefined) {
      return undefined;
    }
    own.session = session;
    return {
      onDidSendMessage: (message: unknown) => {
        if (isResponseTo('configurationDone', message)) {
          own.release();
          own.endIfUnused();
        }
      },
      onWillStopSession: () => this.forget(own),
    };
  }

  dispose(): void {
    this.server?.close();
    this.programs.forEach((program) => program.destroy());
    if (this.folder !== '') {
      rmSync(this.folder, { recursive: true, force: true });
    }
  }

  /** Return the options of a terminal; undefined if a message has been shown. */
  private async options(): Promise<vscode.TerminalOptions | undefined> {
    const folder = this.currentFolder();
    const finding = await findSelectedInterpreter(folder);
    const problem = problemOfInterpreter(finding);
    if (problem !== undefined) {
      this.problems.show(problem, { folder, configuration: { ...ATTACH }, finding, retry: () => this.open() });
      return undefined;
    }
    const { command, args } = prepareCommand(finding.python);
    const env = { ...process.env, ...ownPythonPath() };
    const { stdout } = await promisify(execFile)(command, [...args], { cwd: __dirname, env });
    const { driver } = JSON.parse(stdout) as { readonly driver: Readonly<Record<string, string>> };
    return {
      name: 'Ray Debug Terminal',
      iconPath: new vscode.ThemeIcon('debug-alt'),
      env: { ...driver, RAYDAP_TERMINAL: this.listen() },
      // After a reload of the window, no extension would listen for a restored terminal.
      isTransient: true,
    };
  }

  /** Listen for programs. Return the path of the socket. */
  private listen(): string {
    if (this.server === undefined) {
      this.folder = mkdtempSync(join(tmpdir(), 'raydap-terminal-'));
      this.server = createServer((program) => this.accept(program)).listen(join(this.folder, 'socket'));
    }
    return join(this.folder, 'socket');
  }

  private accept(program: Socket): void {
    this.programs.add(program);
    program.once('close', () => this.programs.delete(program));
    program.on('error', () => program.destroy());
    createInterface(program).once('line', (line) => {
      const request = requestOf(line);
      if (request === undefined) {
        program.destroy();
        return;
      }
      const session = this.sessionFor(request);
      session.add(program);
      program.once('close', () => {
        session.programs.delete(program);
        session.endIfUnused();
      });
    });
  }

  /** Return the session of a cluster. Start it for its first program. A session without programs is about to end. */
  private sessionFor({ cluster, program }: Request): TerminalSession {
    const running = [...this.sessions].find((session) => session.cluster === cluster && session.programs.size > 0);
    if (running !== undefined) {
      return running;
    }
    const session = new TerminalSession((this.count += 1), cluster);
    this.sessions.add(session);
    const name = `Ray: ${basename(program)}`;
    // The debug console would take the place of the terminal.
    const own = { name, dashboard: cluster, internalConsoleOptions: 'neverOpen', [NUMBER]: session.number };
    const start = async (): Promise<void> => {
      let hasStarted = false;
      try {
        hasStarted = await vscode.debug.startDebugging(this.currentFolder(), { ...ATTACH, ...own });
      } finally {
        if (!hasStarted) {
          this.forget(session);
        }
      }
    };
    showingError(start());
    return session;
  }

  /** Let the programs of a session that ends or does not start continue. Their cluster's next program gets another. */
  private forget(session: TerminalSession): void {
    this.sessions.delete(session);
    session.release();
  }
}

/** Return the request in a line; undefined for a line of another program. */
function requestOf(line: string): Request | undefined {
  try {
    const { program, cluster } = JSON.parse(line) as Record<string, unknown>;
    return typeof program === 'string' && typeof cluster === 'string' ? { program, cluster } : undefined;
  } catch {
    return undefined;
  }
}

/** Return the PYTHONPATH that the user's settings give to terminals. A terminal's own variables replace it. */
function ownPythonPath(): NodeJS.ProcessEnv {
  const platform = process.platform === 'darwin' ? 'osx' : 'linux';
  const env = vscode.workspace.getConfiguration('terminal.integrated.env').get<NodeJS.ProcessEnv>(platform, {});
  return env.PYTHONPATH === undefined ? {} : { PYTHONPATH: env.PYTHONPATH };
}
