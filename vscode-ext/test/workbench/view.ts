/** The Ray view, as a user sees and uses it. */

import assert from 'node:assert/strict';

import { errors, type Locator } from 'playwright-core';

import { POLLING, type Workbench } from './workbench';

export const PAUSED = '.codicon-debug-pause';
export const STOPPED = '.codicon-debug-stackframe';
export const RUNNING = '.codicon-play';
export const ALIVE = '.codicon-circle-outline';

/**
 * Click a button. Return whether the button received the click. VS Code draws the buttons of a row anew when the focus
 * leaves another part of the window. A click that moves the focus may therefore hit a button that has just been
 * removed.
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

/** The rows, buttons and menus of the view. */
export class RayView {
  constructor(private readonly workbench: Workbench) {}

  /** The rows with this text in their label and description. */
  row(text: string | RegExp): Locator {
    return this.workbench.page.locator('.customview-tree .monaco-list-row', { hasText: text });
  }

  cluster(text: string | RegExp = ''): Locator {
    return this.workbench.page.locator('.customview-tree .monaco-list-row[aria-level="1"]', { hasText: text });
  }

  /** Workers of train.py, by their icon. */
  trainer(icon: string): Locator {
    return this.row(/Trainer \d · train/).filter({ has: this.workbench.page.locator(icon) });
  }

  /** Return the process id of a worker's row, which is before its node. */
  async pid(row: Locator): Promise<number> {
    const text = (await row.textContent())?.trim() ?? '';
    const pid = /(\d+) · \d+\.\d+\.\d+\.\d+/.exec(text)?.[1];
    assert.ok(pid !== undefined, text);
    return Number(pid);
  }

  /** Show the view by a command. A click on its icon would hide the view if it is already shown. */
  async show(): Promise<void> {
    await this.workbench.runCommand('Focus on Clusters View');
    await this.cluster().or(this.workbench.page.getByText('Add a Ray cluster')).first().waitFor();
  }

  /** Press a button that a row shows under the mouse. Resolve when `worked` does. */
  async press(row: Locator, button: string, worked: () => Promise<void>): Promise<void> {
    await this.untilDone(worked, async () => {
      // The label of a command with keys ends with them: `Attach (Ctrl+Alt+W T)`.
      const label = row.locator(`:is(.action-label[aria-label="${button}"], .action-label[aria-label^="${button} ("])`);
      // A row hides its buttons again if it moves away from the mouse, and the tooltip of another row can cover it.
      for (let tries = 1; tries <= 10; tries++) {
        await this.workbench.moveMouseAway();
        await row.hover();
        if (await clicked(label)) {
          return;
        }
      }
      assert.fail(`${button} was never long enough under the mouse`);
    });
  }

  /** Choose an entry of a row's menu. Resolve when `worked` does. */
  async menu(row: Locator, entry: string, worked: () => Promise<void>): Promise<void> {
    await this.untilDone(worked, async () => {
      await row.click({ button: 'right' });
      // Use the keyboard: a menu treats a click that comes too soon as the end of the click that opened it.
      await this.workbench.page.locator('.context-view .action-item', { hasText: entry }).first().hover();
      await this.workbench.page.keyboard.press('Enter');
    });
  }

  /** Call `act` until it has worked. If VS Code was redrawing the row, the extension asks the user to try again. */
  private async untilDone(worked: () => Promise<void>, act: () => Promise<void>): Promise<void> {
    const redrawn = this.workbench.message('VS Code was redrawing the row');
    for (;;) {
      await act();
      const done = worked().then(() => 'worked');
      const lost = redrawn.waitFor().then(
        () => 'lost',
        // The message has not appeared, so `worked` decides.
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

  /** Answer the input box with this title. It may open only after another list has closed. */
  async answer(title: string, text: string): Promise<void> {
    await this.workbench.page.locator('.quick-input-title', { hasText: title }).waitFor();
    await this.workbench.answer(text);
  }

  /** The icon of the view in the activity bar. */
  icon(): Locator {
    return this.workbench.page.locator('.activitybar .action-item:has([aria-label^="Ray"])');
  }

  async badge(text: string): Promise<void> {
    await this.icon().locator('.badge-content', { hasText: text }).waitFor();
  }

  async status(text: string): Promise<void> {
    await this.workbench.page.locator('.statusbar-item', { hasText: text }).waitFor();
  }

  /** Wait until this process, or the frame in which it is stopped, is selected in the call stack. */
  async selectedInCallStack(pid: number): Promise<void> {
    await this.workbench.page.waitForFunction(
      (name) => {
        const place = (row: Element): number => Number(row.getAttribute('data-index'));
        const rows = Array.from(document.querySelectorAll('.debug-call-stack .monaco-list-row'));
        const selected = rows.find((row) => row.classList.contains('selected'));
        const above = rows.filter((row) => selected && place(row) <= place(selected) && row.querySelector('.thread'));
        const [thread] = above.sort((one, other) => place(other) - place(one));
        return thread?.textContent.includes(name);
      },
      ` · ${pid} · `,
      POLLING,
    );
  }

  async stopDebugging(): Promise<void> {
    await this.workbench.page.keyboard.press('Shift+F5');
    await this.workbench.page.locator('.debug-toolbar').waitFor({ state: 'hidden' });
  }
}
