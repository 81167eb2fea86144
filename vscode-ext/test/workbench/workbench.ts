/** The real VS Code: code-server, with Chromium in front of it. */

import assert from 'node:assert/strict';
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { promisify } from 'node:util';

import { chromium, type Browser, type Locator, type Page } from 'playwright-core';

/** Return an environment variable that `make test-vscode` sets (tests/support/vscode.py). */
export function given(name: string): string {
  const value = process.env[name];
  assert.ok(value !== undefined && value !== '', `${name} is not set: run this by make test-vscode`);
  return value;
}

let failed = false;

/** Declare a test that depends on the tests before it in its file. If one of them has failed, it fails immediately. */
export function step(name: string, body: () => Promise<void>): void {
  test(name, async () => {
    assert.ok(!failed, 'a step before this one has failed');
    failed = true;
    await body();
    failed = false;
  });
}

/** Settings that turn off what a first start shows instead of the editor. The extension has its default settings. */
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

/** The arguments of Workbench.start. */
export interface Options {
  /** Machine settings. raydap's settings are among them, because its Python runs beside the server, not the browser. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** The package of an extension, which is installed as a user would install it. */
  readonly vsix?: string;
  /** Command line options for code-server. */
  readonly flags?: readonly string[];
  /** Environment variables to add; undefined removes a variable. */
  readonly env?: Readonly<NodeJS.ProcessEnv>;
}

/** A VS Code in the browser, and the actions of its user. */
export class Workbench {
  private constructor(
    readonly project: string,
    readonly page: Page,
    readonly url: string,
    private readonly folder: string,
    private readonly server: ChildProcess,
    readonly browser: Browser,
    private readonly settings: Readonly<Record<string, unknown>>,
  ) {}

  /** Start VS Code with a copy of test/project. The files of the user's own VS Code are neither read nor written. */
  static async start({ settings, vsix, flags = [], env = {} }: Options): Promise<Workbench> {
    const folder = mkdtempSync(join(tmpdir(), 'raydap-vscode-'));
    const project = join(folder, 'project');
    cpSync('test/project', project, { recursive: true });
    writeSettings(join(folder, 'data', 'User'), { ...SETTINGS, ...terminalSettings() });
    writeSettings(join(folder, 'data', 'Machine'), settings);
    const command = codeServer(folder, env);
    if (vsix !== undefined) {
      await promisify(execFile)(command.node, [...command.args, '--install-extension', vsix], { env: command.env });
    }
    const server = spawn(command.node, [...command.args, ...SERVER_FLAGS, ...flags], {
      env: command.env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      const url = await addressOf(server);
      const browser = await chromium.launch({ executablePath: given('RAYDAP_TEST_CHROMIUM'), args: CHROMIUM_FLAGS });
      const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
      page.setDefaultTimeout(60_000);
      return new Workbench(project, page, url, folder, server, browser, settings);
    } catch (error) {
      server.kill();
      throw error;
    }
  }

  async open(query: Readonly<Record<string, string>> = {}): Promise<void> {
    const parameters = new URLSearchParams({ folder: this.project, ...query });
    await this.page.goto(`${this.url}/?${parameters.toString()}`);
    await this.page.locator('.monaco-workbench').waitFor();
    // tests/support/vscode.py reads this line. The clock starts with this process.
    console.log(`the window is open after ${(performance.now() / 1000).toFixed(1)} s`);
  }

  /** Open the window and a file of the project, and wait for the extension. */
  async openAt(file: string): Promise<void> {
    await this.open();
    await this.openFile(file);
    await this.known();
  }

  /** Take a last screenshot, end the browser and the server with all its children, and remove their files. */
  async end(screenshot: string): Promise<void> {
    try {
      await this.screenshot(screenshot);
    } finally {
      await this.browser.close();
      if (this.server.exitCode === null) {
        this.server.kill();
        await once(this.server, 'exit');
      }
      rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
    }
  }

  // The actions of a user.

  /**
   * Open a file. Try again if it does not open: VS Code redraws the list during the search, so a click can miss its
   * row.
   */
  async openFile(name: string, attempts = 3): Promise<void> {
    await this.page.keyboard.press('Control+P');
    await this.page.locator('.quick-input-widget input').fill(name);
    await this.choose(name);
    const tab = this.page.locator(`.tab.active[data-resource-name="${name}"]`);
    try {
      await tab.waitFor({ timeout: 20_000 });
    } catch (error) {
      if (attempts === 1) throw error;
      await this.page.keyboard.press('Escape');
      await this.openFile(name, attempts - 1);
    }
  }

  /** Wait until VS Code shows the extension's contributions, which appear after the workbench itself. */
  async known(): Promise<void> {
    await this.page.locator('.activitybar .action-label[aria-label="Ray"]').waitFor();
  }

  async runCommand(title: string): Promise<void> {
    await this.page.keyboard.press('F1');
    await this.page.locator('.quick-input-widget input').fill(`>${title}`);
    await this.choose(title);
  }

  /** Choose the first entry of the open list that contains this label. */
  async choose(label: string): Promise<void> {
    await this.page.locator('.quick-input-list .monaco-list-row', { hasText: label }).first().click();
  }

  /** Enter a text into the open input box. */
  async answer(text: string): Promise<void> {
    const box = this.page.locator('.quick-input-widget input');
    await box.fill(text);
    await box.press('Enter');
  }

  /** Add these to the settings that the workbench was started with. VS Code notices that the file has changed. */
  changeSettings(settings: Readonly<Record<string, unknown>>): void {
    writeSettings(join(this.folder, 'data', 'Machine'), { ...this.settings, ...settings });
  }

  async goToLine(line: number): Promise<void> {
    await this.page.keyboard.press('Control+G');
    const box = this.page.locator('.quick-input-widget input');
    await box.fill(`:${line}`);
    // VS Code ignores Enter until it shows this row.
    await this.page.locator('.quick-input-list .monaco-list-row', { hasText: `line ${line} ` }).waitFor();
    await box.press('Enter');
    await this.page.locator('.statusbar-item', { hasText: `Ln ${line}, Col` }).waitFor();
  }

  /** Click left of a line's number, as a user sets a breakpoint. Try again if VS Code was not ready for it. */
  async clickBesideLine(line: number): Promise<void> {
    const number = this.page.locator('.editor-instance .line-numbers', { hasText: new RegExp(`^${line}$`) });
    const added = this.breakpoints().nth(await this.breakpoints().count());
    let isThere = false;
    while (!isThere) {
      const [box, margin] = await Promise.all([
        number.boundingBox(),
        this.page.locator('.margin').first().boundingBox(),
      ]);
      assert.ok(box !== null && margin !== null);
      await this.page.mouse.click(margin.x + box.height / 2, box.y + box.height / 2);
      isThere = await added.waitFor({ timeout: 2000 }).then(
        () => true,
        () => false,
      );
    }
  }

  /** The red dots beside the lines, whether verified or not. */
  breakpoints(): Locator {
    return this.page.locator('.glyph-margin-widgets [class*="codicon-debug-breakpoint"]');
  }

  variable(text: string): Locator {
    return this.page.locator('.debug-variables .monaco-list-row', { hasText: text });
  }

  async openScope(name: string): Promise<void> {
    const row = this.page.locator('.debug-variables .monaco-list-row', { hasText: name });
    await row.waitFor();
    if ((await row.getAttribute('aria-expanded')) === 'false') {
      await row.click();
    }
  }

  /** Make the side bar wide enough for the names of workers. */
  async widenSideBar(): Promise<void> {
    const box = await this.page.locator('.part.sidebar').boundingBox();
    assert.ok(box !== null);
    const edge = box.x + box.width;
    await this.page.mouse.move(edge, 450);
    await this.page.mouse.down();
    await this.page.mouse.move(edge + 160, 450, { steps: 4 });
    await this.page.mouse.up();
  }

  /** Type a command line into the terminal, when it has the focus. `python` is the Python of the tests. */
  async runInTerminal(line: string): Promise<void> {
    await this.runCommand('View: Toggle Terminal');
    await this.page.locator('.terminal-wrapper.active .xterm.focus').waitFor({ state: 'attached' });
    await this.terminal().getByText('$').waitFor();
    await this.page.keyboard.type(line);
    await this.page.keyboard.press('Enter');
  }

  async showTerminal(): Promise<void> {
    await this.runCommand('Terminal: Focus on Terminal View');
    await this.terminal().waitFor();
  }

  terminal(): Locator {
    return this.page.locator('.terminal-wrapper.active .xterm-rows');
  }

  /** Wait until the texts at the ends of lines match these patterns, from the top. Return the texts. */
  async lineLabels(...patterns: RegExp[]): Promise<string[]> {
    const labels = await this.page.waitForFunction(
      (sources) => {
        const top = (element: Element): number => element.getBoundingClientRect().top;
        const texts = Array.from(document.querySelectorAll('.part.editor .view-line [class*="ced-"]'))
          .sort((one, other) => top(one) - top(other))
          .map((element) => /^"(.*)"$/.exec(getComputedStyle(element, '::after').content)?.[1] ?? '')
          .filter((text) => text !== '');
        const alike = sources.every((source, index) => new RegExp(source).test(texts[index] ?? ''));
        return alike && texts.length === sources.length ? texts : undefined;
      },
      patterns.map(({ source }) => source),
    );
    return (await labels.jsonValue()) ?? [];
  }

  /** The rows of this kind in the call stack. */
  callStack(kind: 'session' | 'thread' | 'stack-frame', text: string | RegExp = ''): Locator {
    return this.page.locator(`.debug-call-stack .monaco-list-row:has(.${kind})`, { hasText: text });
  }

  message(text: string | RegExp): Locator {
    return this.page.locator('.notification-toast', { hasText: text });
  }

  /** Take three screenshots: in the light theme, in the dark theme, and in a narrow window. */
  async screenshots(name: string): Promise<void> {
    await this.screenshot(name);
    await this.runCommand('Preferences: Toggle between Light/Dark Themes');
    await this.page.locator('.monaco-workbench.vs-dark').waitFor();
    await this.screenshot(`${name}-dark`);
    await this.runCommand('Preferences: Toggle between Light/Dark Themes');
    await this.page.locator('.monaco-workbench.vs').waitFor();
    await this.page.setViewportSize({ width: 900, height: 900 });
    await this.screenshot(`${name}-narrow`);
    await this.page.setViewportSize({ width: 1400, height: 900 });
  }

  async screenshot(name: string): Promise<void> {
    const folder = given('RAYDAP_TEST_SCREENSHOTS');
    mkdirSync(folder, { recursive: true });
    await this.page.screenshot({ path: join(folder, `${name}.png`) });
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
