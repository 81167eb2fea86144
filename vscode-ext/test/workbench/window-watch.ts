/** How long the window does nothing else: while it is busy, it takes no key and no click. */

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type { Browser, CDPSession, Page } from 'playwright-core';

/** The interval at which the page looks at the clock. */
const LOOK_MS = 10;

/** An action is over when the page has worked for less than this in a second. */
const IDLE_S = 0.15;

interface TraceEvent {
  readonly name: string;
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  /** In microseconds: of a processor, without the time for which other programs had it. */
  readonly tdur?: number;
  readonly args: { readonly name?: string };
}

/** In the page: the longest time between two looks, in milliseconds. */
interface Seen {
  longest: number;
}

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
   * Prints for how long the window was busy at the longest, from the action until nothing more comes of it, and how much
   * of a processor the longest task took: on a busy machine only the second number can be compared. With
   * RAYDAP_TEST_TRACES, a folder, the trace is kept with a CPU profile, which takes time itself.
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

  /** Until nothing more comes of what was done. */
  async settle(): Promise<void> {
    for (let before = -Infinity, now = await this.worked(); now - before > IDLE_S;) {
      before = now;
      await this.page.waitForTimeout(1_000);
      now = await this.worked();
    }
  }

  /** Seconds for which the page has worked since it is there. */
  private async worked(): Promise<number> {
    const { metrics } = await this.session.send('Performance.getMetrics');
    return metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0;
  }
}

/** In milliseconds, of the thread that draws the window: of all main threads of pages, it has most to do. */
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
