/**
 * A user whose program runs a loop without a breakpoint(). F9 in its line stops it; after another F9 it keeps running.
 */

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { after, before, step } from './drive';
import { given } from './installation';
import { Workbench } from './workbench';

/** The line of `progress.write_text(str(turns))` in counter.py. */
const LINE = 15;

let workbench: Workbench;

before(async () => {
  workbench = await Workbench.start({
    vsix: given('RAYDAP_TEST_VSIX'),
    settings: { 'raydap.python': given('RAYDAP_TEST_PYTHON'), 'raydap.dashboard': given('RAYDAP_TEST_DASHBOARD') },
  });
  await workbench.openAt('counter.py');
});

after(async () => {
  await workbench.end('toggle-end');
});

/** Return the number that the actor has written last; 0 before its first turn, and while it writes. */
async function written(): Promise<number> {
  return Number(await readFile(join(workbench.project, 'turns'), 'utf8').catch(() => ''));
}

/** Call `look` repeatedly until it returns a value, and return that. Throw after a minute. */
async function until<T>(what: string, look: () => Promise<T | undefined>): Promise<T> {
  const deadline = Date.now() + 60_000;
  for (;;) {
    const found = await look();
    if (found !== undefined) {
      return found;
    }
    assert.ok(Date.now() < deadline, `not seen: ${what}`);
    await delay(20);
  }
}

/** Wait until the actor has finished a later turn. */
async function pastTurn(turn: number): Promise<void> {
  await until(`a turn after ${turn}`, async () => ((await written()) > turn ? true : undefined));
}

/** Press F9 in the line, and wait until the red dot is shown or, if not `there`, hidden. */
async function toggle(there: boolean): Promise<void> {
  await workbench.goToLine(LINE);
  await workbench.page.keyboard.press('F9');
  await workbench.breakpoints().waitFor({ state: there ? 'visible' : 'hidden' });
}

/**
 * Wait until the actor is stopped in this line, and return its count. VS Code shows no row for its only stopped thread.
 */
async function stopped(): Promise<number> {
  await workbench.callStack('stack-frame', /count.*counter\.py.*15:/s).waitFor();
  await workbench.openScope('Locals');
  return until('the count of the turn that is not yet written', async () => {
    const rows = await workbench.variable('turns').allTextContents();
    const turns = Number(/(?<=^turns\D*)\d+/.exec(rows.at(-1) ?? '')?.[0]);
    return turns === (await written()) + 1 ? turns : undefined;
  });
}

/** Continue the stopped actor. */
async function goOn(): Promise<void> {
  await workbench.page.keyboard.press('F5');
  await workbench.callStack('stack-frame').first().waitFor({ state: 'hidden' });
}

step('F5 launches the program, and its actor counts', async () => {
  await workbench.page.keyboard.press('F5');
  await workbench.choose('Debug current file on Ray');
  await pastTurn(100);
});

step('F9 in a line of the running loop stops it there', async () => {
  await toggle(true);
  await stopped();
  await workbench.widenSideBar();
  await workbench.lineLabels(/^Counter$/);
  await workbench.screenshot('64-toggled-on');
});

step('F9 again and F5: it runs on, through this line many times, and never stops', async () => {
  const turns = await stopped();
  await toggle(false);
  await goOn();
  await pastTurn(turns + 1000);
  assert.equal(await workbench.callStack('stack-frame').count(), 0);
  await workbench.screenshot('65-toggled-off');
});

step('F9 once more: it stops again', async () => {
  await toggle(true);
  await stopped();
  await toggle(false);
  await goOn();
});

step('a condition that is set while it runs stops it at the turn that is meant', async () => {
  await workbench.goToLine(LINE);
  await workbench.runCommand('Debug: Add Conditional Breakpoint...');
  await workbench.page.locator('.breakpoint-widget .monaco-editor.focused').waitFor();
  await workbench.page.keyboard.type('turns % 1000 == 0');
  await workbench.page.keyboard.press('Enter');
  await workbench.page.locator('.glyph-margin-widgets .codicon-debug-breakpoint-conditional').waitFor();
  const first = await stopped();
  await workbench.screenshot('66-condition');
  await goOn();
  const second = await stopped();
  assert.deepEqual([first % 1000, second - first], [0, 1000]);
});

step('leaving ends the program', async () => {
  await workbench.page.keyboard.press('Shift+F5');
  await workbench.page.locator('.debug-toolbar').waitFor({ state: 'hidden' });
});
