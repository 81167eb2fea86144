/** The Ray view, as a user reads and uses it. */

import assert from 'node:assert/strict';

import type { Locator } from 'playwright-core';

import type { Workbench } from './workbench';

export const PAUSED = '.codicon-debug-pause';
export const STOPPED = '.codicon-debug-stackframe';
export const RUNNING = '.codicon-play';

export class RayView {
  constructor(private readonly workbench: Workbench) {}

  /** What a row says is its label and its description. */
  row(text: string | RegExp): Locator {
    return this.workbench.page.locator('.customview-tree .monaco-list-row', { hasText: text });
  }

  cluster(text: string | RegExp = ''): Locator {
    return this.workbench.page.locator('.customview-tree .monaco-list-row[aria-level="1"]', { hasText: text });
  }

  /** Workers of train.py, by their icon. */
  trainer(icon: string): Locator {
    return this.row(/Trainer \d+ · train/).filter({ has: this.workbench.page.locator(icon) });
  }

  /** The process of an actor's row: what has neither name nor rank is named by it. */
  async pid(row: Locator): Promise<number> {
    const text = (await row.textContent())?.trim() ?? '';
    const pid = /Trainer (\d+) · /.exec(text)?.[1];
    assert.ok(pid !== undefined, text);
    return Number(pid);
  }

  /** By a command, because a click on the icon of the view that is shown hides it. */
  async show(): Promise<void> {
    await this.workbench.runCommand('Focus on Clusters View');
    await this.cluster().or(this.workbench.page.getByText('Add a Ray cluster')).first().waitFor();
  }

  /** One of the buttons that a row shows under the mouse. */
  async press(row: Locator, button: string): Promise<void> {
    await row.hover();
    await row.locator(`.action-label[aria-label="${button}"]`).click();
  }

  /** An entry of the row's menu. */
  async menu(row: Locator, entry: string): Promise<void> {
    await row.click({ button: 'right' });
    // A menu takes a click for the end of the one that has opened it, if it comes too soon.
    await this.workbench.page.locator('.context-view .action-item', { hasText: entry }).first().hover();
    await this.workbench.page.keyboard.press('Enter');
  }

  async add(address: string): Promise<void> {
    await this.workbench.runCommand('Raydap: Add Cluster');
    await this.answer('Add Cluster', address);
  }

  /** Answers the question with this title, which may come after another list has closed. */
  async answer(title: string, text: string): Promise<void> {
    await this.workbench.page.locator('.quick-input-title', { hasText: title }).waitFor();
    await this.workbench.answer(text);
  }

  /** Of the view, in the activity bar. */
  icon(): Locator {
    return this.workbench.page.locator('.activitybar .action-item:has([aria-label^="Ray"])');
  }

  async badge(text: string): Promise<void> {
    await this.icon().locator('.badge-content', { hasText: text }).waitFor();
  }

  async status(text: string): Promise<void> {
    await this.workbench.page.locator('.statusbar-item', { hasText: text }).waitFor();
  }

  /** Until the call stack has selected this process, or the frame in which it is stopped. */
  async selectedInCallStack(pid: number): Promise<void> {
    await this.workbench.page.waitForFunction((name) => {
      const place = (row: Element): number => Number(row.getAttribute('data-index'));
      const rows = Array.from(document.querySelectorAll('.debug-call-stack .monaco-list-row'));
      const selected = rows.find((row) => row.classList.contains('selected'));
      const above = rows.filter((row) => selected && place(row) <= place(selected) && row.querySelector('.thread'));
      const [thread] = above.sort((one, other) => place(other) - place(one));
      return thread?.textContent.includes(name);
    }, `Trainer ${pid} · `);
  }

  async stopDebugging(): Promise<void> {
    await this.workbench.page.keyboard.press('Shift+F5');
    await this.workbench.page.locator('.debug-toolbar').waitFor({ state: 'hidden' });
  }
}
