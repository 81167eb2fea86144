/** The Ray view, as a user reads and uses it. */

import assert from 'node:assert/strict';

import { errors, type Locator } from 'playwright-core';

import type { Workbench } from './workbench';

export const PAUSED = '.codicon-debug-pause';
export const STOPPED = '.codicon-debug-stackframe';
export const RUNNING = '.codicon-play';
export const ALIVE = '.codicon-circle-outline';

/**
 * Whether the button got a click. VS Code draws the buttons of a row anew when the focus leaves another part of the
 * window; a press that moves the focus is then on a button that is gone.
 */
async function clicked(button: Locator): Promise<boolean> {
  try {
    const label = await button.elementHandle({ timeout: 2_000 });
    await label?.evaluate((element) => {
      const item = element.parentElement ?? element;
      item.addEventListener('click', () => element.setAttribute('clicked', ''), { capture: true });
    });
    await label?.click({ timeout: 2_000 });
    return (await label?.evaluate((element) => element.hasAttribute('clicked'))) ?? false;
  } catch (error) {
    if (error instanceof errors.TimeoutError || (error instanceof Error && error.message.includes('not attached'))) {
      return false;
    }
    throw error;
  }
}

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

  /** One of the buttons that a row shows under the mouse; resolves when it is seen to have worked. */
  async press(row: Locator, button: string, worked: () => Promise<void>): Promise<void> {
    await this.untilDone(worked, async () => {
      const label = row.locator(`.action-label[aria-label="${button}"]`);
      // A row that moves away from under the mouse hides its buttons again.
      for (let tries = 1; tries <= 10; tries++) {
        await row.hover();
        if (await clicked(label)) {
          return;
        }
      }
      assert.fail(`${button} was never long enough under the mouse`);
    });
  }

  /** An entry of the row's menu; resolves when it is seen to have worked. */
  async menu(row: Locator, entry: string, worked: () => Promise<void>): Promise<void> {
    await this.untilDone(worked, async () => {
      await row.click({ button: 'right' });
      // A menu takes a click for the end of the one that has opened it, if it comes too soon.
      await this.workbench.page.locator('.context-view .action-item', { hasText: entry }).first().hover();
      await this.workbench.page.keyboard.press('Enter');
    });
  }

  /** Tries again, as the extension asks for, if VS Code was just redrawing the row. */
  private async untilDone(worked: () => Promise<void>, act: () => Promise<void>): Promise<void> {
    const redrawn = this.workbench.message('The row was being redrawn');
    for (;;) {
      await act();
      const done = worked().then(() => 'worked');
      const lost = redrawn.waitFor().then(
        () => 'lost',
        // It never came, so the other one decides.
        () => done,
      );
      if ((await Promise.race([done, lost])) === 'worked') {
        return;
      }
      done.catch(() => undefined);
      await redrawn.hover();
      await redrawn.locator('.codicon-notifications-clear').click();
      await redrawn.waitFor({ state: 'hidden' });
    }
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
