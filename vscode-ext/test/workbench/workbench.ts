/** A window of the real VS Code. */

import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { Browser, Locator, Page } from 'playwright-core';

import { given, sharedBrowser, sharedServer, type CodeServer, type ServerOptions } from './installation';

/** Examine the page ten times a second. Without this, Playwright does so for each frame that Chromium draws. */
export const POLLING = { polling: 100 };

/** The arguments of Workbench.start. */
export interface Options extends ServerOptions {
  /** Machine settings. raydap's settings are among them, because its Python runs beside the server, not the browser. */
  readonly settings: Readonly<Record<string, unknown>>;
}

/** A VS Code in the browser, and the actions of its user. */
export class Workbench {
  private readonly started = performance.now();

  private constructor(
    readonly project: string,
    readonly page: Page,
    readonly browser: Browser,
    private readonly folder: string,
    private readonly server: CodeServer,
    private readonly settings: Readonly<Record<string, unknown>>,
  ) {}

  /**
   * Prepare a window for a copy of test/project. The server and the browser may have served other windows; the
   * storage of the browser is new, which keeps what VS Code and the extension remember.
   */
  static async start({ settings, ...options }: Options): Promise<Workbench> {
    const [server, browser] = await Promise.all([sharedServer(options), sharedBrowser()]);
    const folder = mkdtempSync(join(tmpdir(), 'raydap-project-'));
    const project = join(folder, 'project');
    cpSync('test/project', project, { recursive: true });
    server.writeSettings(settings);
    const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
    page.setDefaultTimeout(60_000);
    return new Workbench(project, page, browser, folder, server, settings);
  }

  /** The address of the server. */
  get url(): string {
    return this.server.url;
  }

  async open(query: Readonly<Record<string, string>> = {}): Promise<void> {
    const parameters = new URLSearchParams({ folder: this.project, ...query });
    await this.page.goto(`${this.url}/?${parameters.toString()}`);
    await this.page.locator('.monaco-workbench').waitFor();
    // tests/support/vscode.py reads this line.
    console.log(`the window is open after ${((performance.now() - this.started) / 1000).toFixed(1)} s`);
  }

  /** Open the window and a file of the project, and wait for the extension. */
  async openAt(file: string): Promise<void> {
    await this.open();
    await this.openFile(file);
    await this.known();
  }

  /** Take a last screenshot, close the window, and remove its project. */
  async end(screenshot: string): Promise<void> {
    try {
      await this.screenshot(screenshot);
    } finally {
      await this.page.context().close();
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

  /** Move the mouse to an empty place of the title bar, and wait until the tooltip of the place before is hidden. */
  async moveMouseAway(): Promise<void> {
    await this.page.mouse.move(1120, 17);
    await this.page.locator('.context-view .monaco-hover').first().waitFor({ state: 'hidden' });
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
    this.server.writeSettings({ ...this.settings, ...settings });
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

  /** Type a command line into the terminal. `python` is the Python of the tests. */
  async runInTerminal(line: string): Promise<void> {
    await this.showTerminal();
    await this.terminal().getByText('$').waitFor();
    await this.focusTerminal();
    await this.page.keyboard.type(line);
    await this.page.keyboard.press('Enter');
  }

  /** Click the terminal. The list of commands may return the focus to the editor after the terminal has opened. */
  async focusTerminal(): Promise<void> {
    await this.terminal().click({ force: true }); // An empty element of VS Code lies over the rows.
    await this.page.locator('.terminal-wrapper.active .xterm.focus').waitFor({ state: 'attached' });
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
      POLLING,
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
    await this.moveMouseAway();
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
