/** A window of the real VS Code, and what a user does in it. */

import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';

import { chromium, type Browser, type Locator, type Page } from 'playwright-core';

import {
  given,
  launchBrowser,
  startServer,
  writeMachineSettings,
  writeUserSettings,
  type ServerOptions,
  type Settings,
  type Shared,
} from './server';

export { given };

let failed = false;

/** A test that builds on those before it in its file: after one that has failed it does not wait in vain. */
export function step(name: string, body: () => Promise<void>): void {
  test(name, async () => {
    assert.ok(!failed, 'a step before this one has failed');
    failed = true;
    await body();
    failed = false;
  });
}

export class Workbench {
  private constructor(
    readonly page: Page,
    readonly url: string,
    readonly browser: Browser,
    /** A copy of test/project. */
    readonly project: string,
    /** The folder of the server's files. */
    private readonly folder: string,
    private readonly settings: Settings,
    /** Ends what was started for this window. */
    private readonly close: () => Promise<void>,
  ) {}

  /**
   * Starts with the server and the browser of all drives, which have the extension; nothing is left of the drive before.
   * The settings are those of the machine, where raydap's belong: the browser's side has none of its interpreters.
   */
  static async start(settings: Settings): Promise<Workbench> {
    const { url, folder, browser: address } = JSON.parse(given('RAYDAP_TEST_SHARED')) as Shared;
    writeUserSettings(folder);
    writeMachineSettings(folder, settings);
    const browser = await chromium.connectOverCDP(address);
    const [context] = browser.contexts();
    assert.ok(context !== undefined);
    const page = context.pages()[0] ?? (await context.newPage());
    const session = await context.newCDPSession(page);
    await session.send('Storage.clearDataForOrigin', { origin: url, storageTypes: 'cookies,indexeddb,local_storage' });
    return Workbench.prepare(page, url, browser, folder, settings, async () => {
      // The server ends what it runs for the window.
      await page.goto('about:blank');
      await browser.close();
    });
  }

  /** Starts with a server and a browser of its own. */
  static async startAlone(settings: Settings, options: ServerOptions): Promise<Workbench> {
    const folder = mkdtempSync(join(tmpdir(), 'raydap-vscode-'));
    writeUserSettings(folder);
    writeMachineSettings(folder, settings);
    const server = await startServer(folder, options);
    const end = async (): Promise<void> => {
      await server.end();
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    };
    try {
      const browser = await launchBrowser();
      return await Workbench.prepare(await browser.newPage(), server.url, browser, folder, settings, async () => {
        await browser.close();
        await end();
      });
    } catch (error) {
      await end();
      throw error;
    }
  }

  private static async prepare(
    page: Page,
    url: string,
    browser: Browser,
    folder: string,
    settings: Settings,
    close: () => Promise<void>,
  ): Promise<Workbench> {
    await page.setViewportSize({ width: 1400, height: 900 });
    page.setDefaultTimeout(60_000);
    const project = join(mkdtempSync(join(tmpdir(), 'raydap-')), 'project');
    cpSync('test/project', project, { recursive: true });
    return new Workbench(page, url, browser, project, folder, settings, close);
  }

  async open(query: Readonly<Record<string, string>> = {}): Promise<void> {
    const parameters = new URLSearchParams({ folder: this.project, ...query });
    await this.page.goto(`${this.url}/?${parameters.toString()}`);
    await this.page.locator('.monaco-workbench').waitFor();
    // tests/support/vscode.py reads it. The clock begins with this process.
    console.log(`the window is open after ${(performance.now() / 1000).toFixed(1)} s`);
  }

  /** With a file of the project, when the extension is there. */
  async openAt(file: string): Promise<void> {
    await this.open();
    await this.openFile(file);
    await this.known();
  }

  /** Keeps what was seen last; then ends what was started, and removes the project. */
  async end(screenshot: string): Promise<void> {
    try {
      await this.screenshot(screenshot);
    } finally {
      await this.close();
      rmSync(dirname(this.project), { recursive: true, force: true, maxRetries: 5 });
    }
  }

  // What a user does.

  /** Again if nothing has opened: the list is drawn anew while files are searched, and a click can miss its row. */
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

  /** Until the extension's contributions are there, which is after the workbench itself. */
  async known(): Promise<void> {
    await this.page.locator('.activitybar .action-label[aria-label="Ray"]').waitFor();
  }

  async runCommand(title: string): Promise<void> {
    await this.page.keyboard.press('F1');
    await this.page.locator('.quick-input-widget input').fill(`>${title}`);
    await this.choose(title);
  }

  /** Takes the entry of the open list that begins with this label. */
  async choose(label: string): Promise<void> {
    await this.page.locator('.quick-input-list .monaco-list-row', { hasText: label }).first().click();
  }

  async answer(text: string): Promise<void> {
    const box = this.page.locator('.quick-input-widget input');
    await box.fill(text);
    await box.press('Enter');
  }

  /** Beside those that the workbench was started with; VS Code sees that the file has changed. */
  changeSettings(settings: Settings): void {
    writeMachineSettings(this.folder, { ...this.settings, ...settings });
  }

  async goToLine(line: number): Promise<void> {
    await this.page.keyboard.press('Control+G');
    const box = this.page.locator('.quick-input-widget input');
    await box.fill(`:${line}`);
    // Before this VS Code does nothing upon Enter.
    await this.page.locator('.quick-input-list .monaco-list-row', { hasText: `line ${line} ` }).waitFor();
    await box.press('Enter');
    await this.page.locator('.statusbar-item', { hasText: `Ln ${line}, Col` }).waitFor();
  }

  /** In the margin, left of the line's number, as a user sets a breakpoint; again if VS Code was not ready for it. */
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

  /** By the button in a thread's row; resolves when the call stack shows that something has happened. */
  async continueThread(row: Locator): Promise<'continued'> {
    return row.evaluate(
      (element) =>
        new Promise((resolve) => {
          const observer = new MutationObserver(() => {
            observer.disconnect();
            resolve('continued');
          });
          const list = element.closest('.monaco-list') ?? element;
          observer.observe(list, { subtree: true, childList: true, characterData: true });
          element.querySelector<HTMLElement>('.codicon-debug-continue')?.click();
        }),
    );
  }

  /** Opens a scope of the variables, if it is not open yet. */
  async openScope(name: string): Promise<void> {
    const row = this.page.locator('.debug-variables .monaco-list-row', { hasText: name });
    await row.waitFor();
    if ((await row.getAttribute('aria-expanded')) === 'false') {
      await row.click();
    }
  }

  /** Until the names of workers fit. */
  async widenSideBar(): Promise<void> {
    const box = await this.page.locator('.part.sidebar').boundingBox();
    assert.ok(box !== null);
    const edge = box.x + box.width;
    await this.page.mouse.move(edge, 450);
    await this.page.mouse.down();
    await this.page.mouse.move(edge + 160, 450, { steps: 4 });
    await this.page.mouse.up();
  }

  /** Types a command line into the terminal. `python` is the one of the tests. */
  async runInTerminal(line: string): Promise<void> {
    await this.runCommand('View: Toggle Terminal');
    await this.page.locator('.terminal-wrapper.active .xterm-helper-textarea').waitFor({ state: 'attached' });
    await this.terminal().getByText('$').waitFor();
    await this.page.keyboard.type(line);
    await this.page.keyboard.press('Enter');
  }

  async showTerminal(): Promise<void> {
    await this.runCommand('Terminal: Focus on Terminal View');
    await this.terminal().waitFor();
  }

  /** What the terminal shows. */
  terminal(): Locator {
    return this.page.locator('.terminal-wrapper.active .xterm-rows');
  }

  /** Waits until the texts that the extension adds to the ends of lines are like these, from the top; returns them. */
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

  /** Rows of the call stack: `kind` is session, thread or stack-frame. */
  callStack(kind: 'session' | 'thread' | 'stack-frame', text: string | RegExp = ''): Locator {
    return this.page.locator(`.debug-call-stack .monaco-list-row:has(.${kind})`, { hasText: text });
  }

  message(text: string | RegExp): Locator {
    return this.page.locator('.notification-toast', { hasText: text });
  }

  /** In the dark theme, and in a narrow window, too. */
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
