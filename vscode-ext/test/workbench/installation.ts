/** The programs that the windows of this process share: code-server, which is VS Code, and Chromium in front of it. */

import assert from 'node:assert/strict';
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';

import { chromium, type Browser } from 'playwright-core';

/** Return an environment variable that `make test-vscode` sets (tests/support/vscode.py). */
export function given(name: string): string {
  const value = process.env[name];
  assert.ok(value !== undefined && value !== '', `${name} is not set: run this by make test-vscode`);
  return value;
}

/** Settings that turn off what a first start shows instead of the editor, and clusters that are not those of the tests. */
const SETTINGS = {
  'chat.disableAIFeatures': true,
  'editor.minimap.enabled': false,
  'extensions.ignoreRecommendations': true,
  'git.enabled': false,
  // Other clusters may run on this machine.
  'raydap.listLocalClusters': false,
  'remote.autoForwardPorts': false,
  'security.workspace.trust.enabled': false,
  'telemetry.telemetryLevel': 'off',
  'update.mode': 'none',
  'window.menuBarVisibility': 'compact',
  // Without animations, no screenshot shows a list that is fading.
  'workbench.reduceMotion': 'on',
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  // A stop takes the focus, which would close the input box that a test is typing into.
  'workbench.quickOpen.closeOnFocusLost': false,
  'workbench.startupEditor': 'none',
  'workbench.tips.enabled': false,
};

/**
 * Return the settings of a terminal with the Python of the tests. Its prompt contains no folder, so that all
 * screenshots look the same. Ray copies no output of workers into it, because that would push the result of a program
 * out of sight.
 */
function terminalSettings(): object {
  const PATH = [dirname(given('RAYDAP_TEST_PYTHON')), process.env.PATH].join(delimiter);
  return {
    'terminal.integrated.defaultProfile.linux': 'sh',
    'terminal.integrated.profiles.linux': { sh: { path: '/bin/sh', env: { PS1: '$ ', PATH, RAY_LOG_TO_DRIVER: '0' } } },
    // Render text that a test can read, not a canvas.
    'terminal.integrated.gpuAcceleration': 'off',
  };
}

const CHROMIUM_FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-dev-shm-usage',
];

/** A gallery at an address where no server listens, so that VS Code finds no extensions. */
const NO_GALLERY = JSON.stringify({ serviceUrl: 'http://127.0.0.1:9/', itemUrl: 'http://127.0.0.1:9/' });

/** The properties of a code-server. Windows share a server if theirs are equal. */
export interface ServerOptions {
  /** The package of an extension, which is installed as a user would install it. */
  readonly vsix?: string;
  /** Command line options for code-server. */
  readonly flags?: readonly string[];
  /** Environment variables to add; undefined removes a variable. */
  readonly env?: Readonly<NodeJS.ProcessEnv>;
}

const servers = new Map<string, Promise<CodeServer>>();
let browser: Promise<Browser> | undefined;

/** Return the running server with these options, or start it. */
export async function sharedServer(options: ServerOptions): Promise<CodeServer> {
  const key = JSON.stringify([options.vsix, options.flags, Object.entries(options.env ?? {})]);
  const server = servers.get(key) ?? CodeServer.start(options);
  servers.set(key, server);
  return server;
}

/** Return the browser, which is started for the first window. */
export async function sharedBrowser(): Promise<Browser> {
  browser ??= chromium.launch({ executablePath: given('RAYDAP_TEST_CHROMIUM'), args: CHROMIUM_FLAGS });
  return browser;
}

/** End the browser and all servers. The next window starts new ones. */
export async function endPrograms(): Promise<void> {
  const started = [...servers.values()];
  const opened = browser;
  servers.clear();
  browser = undefined;
  await Promise.allSettled([
    (async () => (await opened)?.close())(),
    ...started.map(async (server) => (await server).end()),
  ]);
}

/** A running code-server. The files of the user's own VS Code are neither read nor written. */
export class CodeServer {
  private constructor(
    readonly url: string,
    private readonly folder: string,
    private readonly process: ChildProcess,
  ) {}

  static async start({ vsix, flags = [], env = {} }: ServerOptions): Promise<CodeServer> {
    const folder = mkdtempSync(join(tmpdir(), 'raydap-vscode-'));
    writeSettings(join(folder, 'data', 'User'), { ...SETTINGS, ...terminalSettings() });
    const command = commandOf(folder, env);
    if (vsix !== undefined) {
      await promisify(execFile)(command.node, [...command.args, '--install-extension', vsix], { env: command.env });
    }
    const server = spawn(command.node, [...command.args, ...SERVER_FLAGS, ...flags], {
      env: command.env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      return new CodeServer(await addressOf(server), folder, server);
    } catch (error) {
      server.kill();
      throw error;
    }
  }

  /** Write the machine settings. VS Code notices that the file has changed. */
  writeSettings(settings: Readonly<Record<string, unknown>>): void {
    writeSettings(join(this.folder, 'data', 'Machine'), settings);
  }

  /** End the server with all its children, and remove its files. */
  async end(): Promise<void> {
    if (this.process.exitCode === null) {
      this.process.kill();
      await once(this.process, 'exit');
    }
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

function writeSettings(folder: string, settings: Readonly<Record<string, unknown>>): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'settings.json'), JSON.stringify(settings));
}

const SERVER_FLAGS = [
  '--auth=none',
  '--bind-addr=127.0.0.1:0',
  '--disable-telemetry',
  '--disable-update-check',
  '--disable-workspace-trust',
  '--disable-getting-started-override',
  '--reconnection-grace-time=5',
];

interface Command {
  readonly node: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

function commandOf(folder: string, more: Readonly<NodeJS.ProcessEnv>): Command {
  const place = given('RAYDAP_TEST_WORKBENCH');
  const dirs = [`--user-data-dir=${join(folder, 'data')}`, `--extensions-dir=${join(folder, 'extensions')}`];
  const env = {
    ...process.env,
    PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
    XDG_CONFIG_HOME: join(folder, 'config'),
    XDG_DATA_HOME: join(folder, 'share'),
    EXTENSIONS_GALLERY: NO_GALLERY,
    ...more,
  };
  return { node: process.execPath, args: [join(place, 'node_modules', 'code-server'), ...dirs], env };
}

/** Return the URL that the server prints when it listens. Keep reading its output, so that it never blocks. */
async function addressOf(server: ChildProcess): Promise<string> {
  assert.ok(server.stdout !== null);
  const lines = createInterface(server.stdout);
  return new Promise((resolve, reject) => {
    const seen: string[] = [];
    lines.on('line', (line) => {
      seen.push(line);
      const url = /HTTP server listening on (http:\/\/[\w.:]+)/.exec(line)?.[1];
      if (url !== undefined) {
        resolve(url);
      }
    });
    server.once('exit', (code) => {
      reject(new Error(`code-server ended with code ${code}:\n${seen.join('\n')}`));
    });
  });
}
