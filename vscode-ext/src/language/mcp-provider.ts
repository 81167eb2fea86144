/** raydap's server for coding agents (Model Context Protocol), which VS Code starts for the agents of this window. */

import * as vscode from 'vscode';

import { findSelectedInterpreter, onDidChangeInterpreter } from '../debug/selected-interpreter';
import type { InterpreterFinding } from '../model/interpreter-finding';
import { mcpCommand } from '../process/command';

/** The id in the extension's manifest. */
const ID = 'raydap.mcp';

const LABEL = 'raydap';

/** The definition of a server that VS Code starts. VS Code has it from 1.101 on. */
export interface StdioServerDefinition {
  readonly label: string;
  command: string;
  args: string[];
  cwd?: vscode.Uri | undefined;
}

/** The provider that VS Code asks for servers. */
export interface ServerProvider {
  readonly onDidChangeMcpServerDefinitions: vscode.Event<void>;
  provideMcpServerDefinitions(): StdioServerDefinition[];
  resolveMcpServerDefinition(server: StdioServerDefinition): Promise<StdioServerDefinition>;
}

/** The part of VS Code's API that is used here. It is missing in VS Code before 1.101. */
interface McpApi {
  readonly McpStdioServerDefinition?: new (
    label: string,
    command: string,
    args: string[],
    env: Record<string, string>,
    version: string,
  ) => StdioServerDefinition;
  readonly lm?: {
    readonly registerMcpServerDefinitionProvider?: (id: string, provider: ServerProvider) => vscode.Disposable;
  };
}

/**
 * Register the server with VS Code, and return what ends the registration: nothing in a VS Code without servers of
 * extensions. The server joins the debug session of this window. `version` is that of the extension: VS Code reads the
 * list of tools again when it changes. `currentFolder` returns the folder that the user works in.
 */
export function registerMcpServer(
  version: string,
  currentFolder: () => vscode.WorkspaceFolder | undefined,
): { dispose(): unknown }[] {
  const { McpStdioServerDefinition, lm } = vscode as unknown as McpApi;
  if (McpStdioServerDefinition === undefined || lm?.registerMcpServerDefinitionProvider === undefined) {
    return [];
  }
  const changed = new vscode.EventEmitter<void>();
  let changes: vscode.Disposable | undefined;
  const provider: ServerProvider = {
    onDidChangeMcpServerDefinitions: changed.event,
    // VS Code calls this often, so it starts no Python. The interpreter is found when the server is needed.
    provideMcpServerDefinitions: () => [
      new McpStdioServerDefinition(LABEL, 'python3', [...mcpCommand('python3').args], {}, version),
    ],
    resolveMcpServerDefinition: async (server) => {
      const folder = currentFolder();
      const finding = await findSelectedInterpreter(folder);
      changes ??= await onDidChangeInterpreter(() => {
        changed.fire();
      });
      if (finding.kind !== 'ready') {
        throw new Error(problem(finding));
      }
      const { command, args } = mcpCommand(finding.python, finding.version);
      // An agent names files relative to the folder in which it works.
      return Object.assign(server, { command, args: [...args], cwd: folder?.uri });
    },
  };
  return [
    lm.registerMcpServerDefinitionProvider(ID, provider),
    changed,
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration('raydap.python')) {
        changed.fire();
      }
    }),
    new vscode.Disposable(() => {
      changes?.dispose();
    }),
  ];
}

function problem(finding: InterpreterFinding): string {
  return `${finding.python} cannot run raydap (${finding.kind}). "Raydap: Choose Python Interpreter" chooses another one.`;
}
