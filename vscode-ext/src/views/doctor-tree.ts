/** The Doctor view: what keeps breakpoints from being hit, and what to do. A process runs while the user waits for it. */

import { existsSync } from 'node:fs';

import * as vscode from 'vscode';

import type { AdapterFactory } from '../debug/adapter-factory';
import { findSelectedInterpreter } from '../debug/selected-interpreter';
import type { ClusterConnection } from '../model/cluster-connection';
import { hubOf } from '../model/configuration';
import { isHubUrl } from '../model/hub-url';
import { runDoctor } from '../process/doctor-process';
import { findingRows, type FindingRow, type FixPlace, type Place } from '../text/finding-rows';
import { problemOfInterpreter } from '../text/problems';
import type { DebugSessions } from './debug-sessions';
import { RowTree } from './row-tree';

/** The largest number of breakpoints that are checked without a session. Each is searched for in every worker. */
const MAX_BREAKPOINTS = 20;

/** The name of the terminal into which commands are typed. */
const TERMINAL = 'raydap doctor';

/** The view and the provider of its rows. */
export class DoctorTree extends RowTree<FindingRow> {
  /** The run in progress, which a later run ends. */
  private running = new AbortController();
  /** The address of the cluster that was checked last. */
  private address = '';

  constructor(
    private readonly sessions: DebugSessions,
    private readonly adapters: AdapterFactory,
  ) {
    super('raydap.doctor');
  }

  /** Check a cluster, and show the findings. Without a cluster, raydap checks the one that it finds. */
  async run(connection: ClusterConnection | undefined): Promise<void> {
    if (connection !== undefined && this.isBehindHub(connection)) {
      throw new Error('The cluster is behind a hub. Run `raydap doctor` in a terminal on the machine of the hub.');
    }
    this.running.abort();
    const { signal } = (this.running = new AbortController());
    await vscode.commands.executeCommand('raydap.doctor.focus');
    const folder = vscode.workspace.workspaceFolders?.[0];
    const setting = vscode.workspace.getConfiguration('raydap', folder).get('dashboard', '').trim();
    this.address = connection === undefined ? setting : connection.cluster.address || connection.url;
    const finding = await findSelectedInterpreter(folder);
    const problem = problemOfInterpreter(finding);
    if (problem !== undefined) {
      throw new Error(problem.text);
    }
    const breakpoints = pythonBreakpoints();
    // raydap asks a session for the breakpoints that are not set in its workers.
    const wanted = connection?.session === undefined ? breakpoints.slice(0, MAX_BREAKPOINTS) : [];
    const checked = wanted.map(({ path, line }) => `${path}:${line}`);
    const command = await this.adapters.doctor(finding.python, this.address, checked);
    const findings = runDoctor(command, this.adapters.cwd, signal);
    try {
      const found = await vscode.window.withProgress({ location: { viewId: 'raydap.doctor' } }, () => findings);
      this.replace(findingRows(found, breakpoints));
      this.view.description = new Date().toLocaleTimeString();
    } catch (error) {
      if (!signal.aborted) {
        throw error;
      }
    }
  }

  /** Open the part of VS Code in which the user applies the fix of a finding. Nothing is changed without the user. */
  async fix({ fix, fixPlace }: FindingRow): Promise<void> {
    const open: Readonly<Record<FixPlace, () => unknown>> = {
      terminal: () => typeInto(fix),
      configuration: async () => {
        await this.copy(fix);
        await vscode.commands.executeCommand('workbench.action.debug.configure');
      },
      address: () => vscode.commands.executeCommand('workbench.action.openSettings', 'raydap.dashboard'),
      token: () => this.adapters.askToken(this.address),
    };
    await open[fixPlace ?? 'configuration']();
  }

  async copy(text: string): Promise<void> {
    await vscode.env.clipboard.writeText(text);
    vscode.window.setStatusBarMessage('Copied. Paste it where the finding says.', 10_000);
  }

  override dispose(): void {
    this.running.abort();
    super.dispose();
  }

  private isBehindHub(connection: ClusterConnection): boolean {
    const configuration = this.sessions.sessionOf(connection)?.configuration;
    return isHubUrl(connection.cluster.address) || (configuration !== undefined && hubOf(configuration) !== undefined);
  }
}

/** Return the enabled breakpoints in Python files that this machine has. */
function pythonBreakpoints(): Place[] {
  return vscode.debug.breakpoints
    .filter((each): each is vscode.SourceBreakpoint => each instanceof vscode.SourceBreakpoint && each.enabled)
    .map(({ location: { uri, range } }) => ({ path: uri.fsPath, line: range.start.line + 1 }))
    .filter(({ path }) => path.endsWith('.py') && existsSync(path));
}

/** Type a command into a terminal. The user checks it and presses Enter, or does not. */
function typeInto(command: string): void {
  const terminal =
    vscode.window.terminals.find(({ name }) => name === TERMINAL) ?? vscode.window.createTerminal(TERMINAL);
  terminal.show();
  // A control character, which may come from a worker, could run the command.
  terminal.sendText(command.replace(/\p{Cc}/gu, ' '), false);
}
