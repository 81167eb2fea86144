/** A user with a paused job. F5 starts one session with three stops, and all workers are continued to their end. */

import assert from 'node:assert/strict';

import type { Locator } from 'playwright-core';

import { after, before, step } from './drive';
import { given } from './installation';
import { Workbench } from './workbench';

const RESULT = 'result: [1, 21, 41]';

let workbench: Workbench;

before(async () => {
  workbench = await Workbench.start({
    vsix: given('RAYDAP_TEST_VSIX'),
    settings: { 'raydap.python': given('RAYDAP_TEST_PYTHON'), 'raydap.dashboard': given('RAYDAP_TEST_DASHBOARD') },
  });
  await workbench.openAt('train.py');
});

after(async () => {
  await workbench.end('session-end');
});

/** The rows of actors that stopped for this reason. VS Code also lists running ones. */
function stopped(reason = '(break|step)'): Locator {
  return workbench.callStack('thread', new RegExp(`Trainer \\d+ · train · .*${reason}`, 's'));
}

function variable(text: string): Locator {
  return workbench.page.locator('.debug-variables .monaco-list-row', { hasText: text });
}

/**
 * Click the button in a thread's row, and wait for a change of the call stack. If VS Code has reused the row for a
 * running thread, the row has no such button, and the promise resolves immediately.
 */
async function continueThread(row: Locator): Promise<'continued'> {
  return row.evaluate(
    (element) =>
      new Promise((resolve) => {
        const list = element.closest('.monaco-list');
        const button = element.querySelector<HTMLElement>('.codicon-debug-continue');
        if (list === null || button === null) {
          resolve('continued');
          return;
        }
        const observer = new MutationObserver(() => {
          observer.disconnect();
          resolve('continued');
        });
        observer.observe(list, { subtree: true, childList: true, characterData: true });
        button.click();
      }),
  );
}

/** Continue the only thread of a session. VS Code lists its frames, but no row for the thread. */
async function continueOnlyThread(): Promise<'continued'> {
  const frame = workbench.page.locator('.debug-call-stack .monaco-list-rows:not(:has(.thread)) .stack-frame').first();
  await frame.waitFor();
  await workbench.page.keyboard.press('F5');
  await frame.waitFor({ state: 'hidden' });
  return 'continued';
}

step('the job is started in the terminal', async () => {
  await workbench.runInTerminal('python train.py');
});

step('F5 without a launch.json offers what to do', async () => {
  await workbench.openFile('train.py');
  await workbench.page.keyboard.press('F5');
  await workbench.page.getByText('Debug with Ray').waitFor();
  const labels = workbench.page.locator('.quick-input-list .quick-input-list-row:first-child .label-name');
  assert.deepEqual(await labels.allTextContents(), [
    'Attach to Ray cluster',
    'Debug current file on Ray',
    'Submit as Ray job',
  ]);
  await workbench.screenshot('01-f5');
});

step('every paused actor appears in one session', async () => {
  await workbench.choose('Attach to Ray cluster');
  await stopped('break').nth(2).waitFor();
  assert.equal(await stopped().count(), 3);
  await workbench.widenSideBar();
  await workbench.screenshot('02-three-stops');
});

step('a breakpoint that is set now is verified by the workers', async () => {
  await workbench.goToLine(17);
  await workbench.page.keyboard.press('F9');
  await workbench.page.locator('.glyph-margin-widgets .codicon-debug-breakpoint').waitFor();
});

step('one actor is stepped, the others stay', async () => {
  await stopped().first().click();
  await workbench.openScope('Locals');
  await variable('number').filter({ hasText: '0' }).waitFor();
  await workbench.page.keyboard.press('F10');
  await stopped('step').waitFor();
  await workbench.page.getByText('Ln 16, Col').waitFor();
  assert.equal(await stopped('break').count(), 2);
  const [, alone = ''] = await workbench.lineLabels(/^2 workers: Trainer \d+, \d+$/, /^Trainer \d+$/);
  assert.match((await stopped('step').textContent()) ?? '', new RegExp(`${alone} · `));
  await workbench.screenshots('03-stepped');
});

step('it is continued, and its next breakpoint arrives by itself', async () => {
  await workbench.page.keyboard.press('F5');
  await stopped('break').nth(2).waitFor();
  await workbench.openScope('Locals');
  await variable('number').filter({ hasText: '1' }).waitFor();
  await workbench.screenshot('04-next-breakpoint');
});

step('all are continued to the end of the job, whose result is right', async () => {
  await workbench.showTerminal();
  const ended = workbench
    .terminal()
    .getByText(RESULT)
    .waitFor()
    .then(() => 'ended' as const);
  let what: 'ended' | 'continued';
  do {
    const next = [continueThread(stopped().first()), continueOnlyThread()];
    // These promises reject when the page is closed.
    for (const one of next) {
      one.catch(() => undefined);
    }
    what = await Promise.race([ended, ...next]);
  } while (what !== 'ended');
  await workbench.lineLabels();
  await workbench.screenshot('05-job-done');
});

step('leaving ends the session', async () => {
  await workbench.page.keyboard.press('Shift+F5');
  await workbench.page.locator('.debug-toolbar').waitFor({ state: 'hidden' });
});
