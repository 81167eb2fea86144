/** Test sessions of the Python extension, which raydap debugs if the setting raydap.debugTests is on. */

import * as vscode from 'vscode';

/** The keys that the Python Debugger and raydap have in common, apart from `name`, `request` and VS Code's own. */
export const COMMON = ['program', 'module', 'args', 'cwd', 'env', 'envFile', 'python', 'pythonArgs', 'console'];

/** Further keys of a test session that raydap supports. */
const OF_TESTS = [...COMMON, 'name', 'request', 'justMyCode', 'showReturnValue', 'subProcess'];

/**
 * The provider for configurations of the type debugpy. When the user debugs a test, the Python extension accepts this
 * type only, and starts a session whose program gets the tests from the pipe RUN_TEST_IDS_PIPE (its debugLauncher.ts).
 * The session becomes one of raydap. VS Code then resolves the new type.
 */
export class TestConfigurations implements vscode.DebugConfigurationProvider {
  resolveDebugConfiguration(
    folder: vscode.WorkspaceFolder | undefined,
    given: vscode.DebugConfiguration,
  ): vscode.DebugConfiguration {
    const env = given.env as Readonly<Record<string, unknown>> | undefined;
    const isWanted = vscode.workspace.getConfiguration('raydap', folder).get<boolean>('debugTests', false);
    if (env?.RUN_TEST_IDS_PIPE === undefined || !isWanted || given.noDebug === true) {
      return given;
    }
    // The Python extension recognises the end of its session by a key of its own, which begins with two underscores.
    const kept = Object.entries(given).filter(([key]) => OF_TESTS.includes(key) || key.startsWith('__'));
    return { ...(Object.fromEntries(kept) as vscode.DebugConfiguration), type: 'raydap' };
  }
}
