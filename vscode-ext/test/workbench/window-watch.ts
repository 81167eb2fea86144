/** The times for which the window is busy. In such a time it does not react to keys and clicks. */

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type { Browser, CDPSession, Page } from 'playwright-core';

/** The interval at which the page reads the clock. */
const LOOK_MS = 10;

/** An action is over when the page has worked for less than this time within a second. */
const IDLE_S = 0.15;

/** An event in a trace of Chromium. */
interface TraceEvent {
  readonly name: string;
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  /** The processor time in microseconds, without the time in which other programs ran. */
  readonly tdur?: number;
  readonly args: { readonly name?: string };
}

/** The measurement that the page keeps. */
interface Seen {
  /** The longest time between two reads of the clock, in milliseconds. */
  longest: number;
}

/** A measurement of one page. */
export class WindowWatch {
  private constructor(
    private readonly page: Page,
    private readonly browser: Browser,
    private readonly session: CDPSession,
  ) {}

  static async start(page: Page, browser: Browser): Promise<WindowWatch> {
    const session = await page.context().newCDPSession(page);
    await session.send('Performance.enable');
    await page.evaluate((interval) => {
      const seen: Seen = { longest: 0 };
      Object.assign(window, { seen });
      let before = performance.now();
      setInterval(() => {
        const now = performance.now();
        seen.longest = Math.max(seen.longest, now - before);
        before = now;
      }, interval);
    }, LOOK_MS);
    return new WindowWatch(page, browser, session);
  }

  /**
   * Perform an action, and print the longest time for which the window was busy until all effects of the action are
   * over. Print the processor time of the longest task, too: on a busy machine, only this number can be compared. If
   * the variable RAYDAP_TEST_TRACES names a folder, keep the trace there with a CPU profile, which takes time itself.
   */
  async during(action: string, act: () => Promise<void>): Promise<void> {
    const folder = process.env.RAYDAP_TEST_TRACES;
    const categories = ['toplevel', ...(folder === undefined ? [] : ['disabled-by-default-v8.cpu_profiler'])];
    await this.browser.startTracing(this.page, { categories });
    await this.page.evaluate(() => {
      (window as unknown as { seen: Seen }).seen.longest = 0;
    });
    await act();
    await this.settle();
    const { longest } = await this.page.evaluate(() => (window as unknown as { seen: Seen }).seen);
    const trace = await this.browser.stopTracing();
    if (folder !== undefined) {
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, `${action.replaceAll(/\W+/g, '-')}.json`), trace);
    }
    const task = longestTask((JSON.parse(trace.toString()) as { traceEvents: TraceEvent[] }).traceEvents);
    console.log(`${action}: busy for ${Math.round(longest)} ms at the longest, ${Math.round(task)} ms of a processor`);
  }

  /** Wait until the page is idle. */
  async settle(): Promise<void> {
    for (let before = -Infinity, now = await this.worked(); now - before > IDLE_S;) {
      before = now;
      await this.page.waitForTimeout(1_000);
      now = await this.worked();
    }
  }

  /** Return the seconds for which the page has worked since it was opened. */
  private async worked(): Promise<number> {
    const { metrics } = await this.session.send('Performance.getMetrics');
    return metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0;
  }
}

/**
 * Return the processor time of the longest task of the window's thread, in milliseconds. The window's thread is the
 * busiest of all main threads of pages.
 */
function longestTask(events: readonly TraceEvent[]): number {
  const key = ({ pid, tid }: TraceEvent): string => `${pid} ${tid}`;
  const isMain = ({ name, args }: TraceEvent): boolean => name === 'thread_name' && args.name === 'CrRendererMain';
  const tasks = new Map(events.filter(isMain).map((event) => [key(event), [] as number[]]));
  for (const event of events) {
    if (event.ph === 'X' && event.name.endsWith('RunTask')) {
      tasks.get(key(event))?.push((event.tdur ?? 0) / 1000);
    }
  }
  const sum = (times: readonly number[]): number => times.reduce((one, other) => one + other, 0);
  const [window = []] = [...tasks.values()].sort((one, other) => sum(other) - sum(one));
  return window.reduce((one, other) => Math.max(one, other), 0);
}
