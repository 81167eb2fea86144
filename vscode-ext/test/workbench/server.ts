/** code-server, which is VS Code, and Chromium. Nothing of the user's own VS Code is read or written. */

import assert from 'node:assert/strict';
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';

import { chromium, type Browser } from 'playwright-core';

/** `make test-vscode` sets these; see tests/support/vscode.py. */
export function given(name: string): string {
  const value = process.env[name];
  assert.ok(value !== undefined && value !== '', `${name} is not set: run this by make test-vscode`);
  return value;
}

/** A first start shows the editor at once. Other settings are the defaults, as the extension finds them at its users. */
const SETTINGS = {
  'chat.disableAIFeatures': true,
  'editor.minimap.enabled': false,
  'extensions.ignoreRecommendations': true,
  'git.enabled': false,
  'remote.autoForwardPorts': false,
  'security.workspace.trust.enabled': false,
  'telemetry.telemetryLevel': 'off',
  'update.mode': 'none',
  'window.menuBarVisibility': 'compact',
  // No picture of a list that is just fading.
  'workbench.reduceMotion': 'on',
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  // A stop that takes the focus would close what a test is typing into.
  'workbench.quickOpen.closeOnFocusLost': false,
  'workbench.startupEditor': 'none',
  'workbench.tips.enabled': false,
};

/**
 * A terminal with our Python. Its prompt names no folder, so that pictures look the same everywhere; and Ray copies no
 * output of workers into it, which would come after the result of a program and push it out of sight.
 */
function terminalSettings(): object {
  const PATH = [dirname(given('RAYDAP_TEST_PYTHON')), process.env.PATH].join(delimiter);
  return {
    'terminal.integrated.defaultProfile.linux': 'sh',
    'terminal.integrated.profiles.linux': { sh: { path: '/bin/sh', env: { PS1: '$ ', PATH, RAY_LOG_TO_DRIVER: '0' } } },
    // Text that a test can read, not a canvas.
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

/** Those with which Playwright launches a browser, as far as they matter here: pictures and costs are the same. */
const HEADLESS_FLAGS = [
  '--headless',
  '--remote-debugging-port=0',
  '--disable-back-forward-cache',
  '--disable-background-timer-throttling',
  '--disable-backgrounding-occluded-windows',
  '--disable-breakpad',
  '--disable-client-side-phishing-detection',
  '--disable-component-extensions-with-background-pages',
  '--disable-default-apps',
  '--disable-extensions',
  '--disable-features=DestroyProfileOnBrowserClose,GlobalMediaControls,LazyFrameLoading,MediaRouter,PaintHolding,Translate',
  '--disable-hang-monitor',
  '--disable-ipc-flooding-protection',
  '--disable-popup-blocking',
  '--disable-renderer-backgrounding',
  '--enable-automation',
  '--force-color-profile=srgb',
  '--font-render-hinting=none',
  '--hide-scrollbars',
  '--metrics-recording-only',
  '--mute-audio',
  '--no-service-autorun',
  '--password-store=basic',
];

/** Nothing listens there, so that no extension is ever looked for. */
const NO_GALLERY = JSON.stringify({ serviceUrl: 'http://127.0.0.1:9/', itemUrl: 'http://127.0.0.1:9/' });

const SERVER_FLAGS = [
  '--auth=none',
  '--bind-addr=127.0.0.1:0',
  '--disable-telemetry',
  '--disable-update-check',
  '--disable-workspace-trust',
  '--disable-getting-started-override',
  '--reconnection-grace-time=5',
];

export type Settings = Readonly<Record<string, unknown>>;

export interface ServerOptions {
  /** Installed as a user would install it. */
  readonly vsix?: string;
  /** Command line flags of the server. */
  readonly flags?: readonly string[];
  /** Beside our own; undefined removes a name. */
  readonly env?: Readonly<NodeJS.ProcessEnv>;
}

/** A process that listens at an address. */
export class Listening {
  private constructor(
    readonly url: string,
    private readonly process: ChildProcess,
  ) {}

  static async start(
    program: string,
    args: readonly string[],
    env: NodeJS.ProcessEnv,
    pattern: RegExp,
  ): Promise<Listening> {
    const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    try {
      return new Listening(await addressOf(child, pattern), child);
    } catch (error) {
      child.kill();
      throw error;
    }
  }

  /** With all its children. */
  async end(): Promise<void> {
    if (this.process.exitCode === null) {
      this.process.kill();
      await once(this.process, 'exit');
    }
  }
}

/** Starts code-server with all its files in `folder`. */
export async function startServer(folder: string, options: ServerOptions): Promise<Listening> {
  const { node, args, env } = codeServer(folder, options.env ?? {});
  if (options.vsix !== undefined) {
    await promisify(execFile)(node, [...args, '--install-extension', options.vsix], { env });
  }
  const all = [...args, ...SERVER_FLAGS, ...(options.flags ?? [])];
  return Listening.start(node, all, env, /HTTP server listening on (http:\/\/[\w.:]+)/);
}

/** Starts a browser to which several programs can connect, one after the other, with its profile in `folder`. */
export async function startBrowser(folder: string): Promise<Listening> {
  const args = [...CHROMIUM_FLAGS, ...HEADLESS_FLAGS, `--user-data-dir=${folder}`, 'about:blank'];
  return Listening.start(given('RAYDAP_TEST_CHROMIUM'), args, process.env, /DevTools listening on (ws:\S+)/);
}

/** Launches a browser for this program alone. */
export async function launchBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: given('RAYDAP_TEST_CHROMIUM'), args: CHROMIUM_FLAGS });
}

/** The addresses of a server and a browser that several drives share. */
export interface Shared {
  readonly url: string;
  /** The folder of the server's files. */
  readonly folder: string;
  /** Where the browser listens for Chrome DevTools Protocol. */
  readonly browser: string;
}

/** Writes the user's settings, which are the same for every drive. */
export function writeUserSettings(folder: string): void {
  writeSettings(join(folder, 'data', 'User'), { ...SETTINGS, ...terminalSettings() });
}

/** Writes the machine's, where raydap's belong: the browser's side has none of its interpreters. */
export function writeMachineSettings(folder: string, settings: Settings): void {
  writeSettings(join(folder, 'data', 'Machine'), settings);
}

function writeSettings(folder: string, settings: Settings): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'settings.json'), JSON.stringify(settings));
}

interface Command {
  readonly node: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

function codeServer(folder: string, more: Readonly<NodeJS.ProcessEnv>): Command {
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

/** The address that a program prints when it listens; its output is read on, so that it never blocks. */
async function addressOf(program: ChildProcess, pattern: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    const seen: string[] = [];
    for (const output of [program.stdout, program.stderr]) {
      assert.ok(output !== null);
      createInterface(output).on('line', (line) => {
        seen.push(line);
        const address = pattern.exec(line)?.[1];
        if (address !== undefined) {
          resolve(address);
        }
      });
    }
    program.once('exit', (code) => {
      reject(new Error(`${program.spawnfile} ended with code ${code}:\n${seen.join('\n')}`));
    });
  });
}
