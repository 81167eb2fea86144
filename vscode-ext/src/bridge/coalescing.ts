/** Many calls in a short time become one. */

export interface Timers {
  set(run: () => void, milliseconds: number): unknown;
  clear(timer: unknown): void;
}

export const REAL: Timers = {
  set: (run, milliseconds) => setTimeout(run, milliseconds),
  clear: (timer) => {
    clearTimeout(timer as NodeJS.Timeout);
  },
};

/** Runs so many milliseconds after the first call since it ran last. */
export class Coalescing {
  private timer: unknown;

  constructor(
    private readonly run: () => void,
    private readonly milliseconds: number,
    private readonly timers: Timers = REAL,
  ) {}

  call(): void {
    this.timer ??= this.timers.set(() => {
      this.timer = undefined;
      this.run();
    }, this.milliseconds);
  }

  dispose(): void {
    if (this.timer !== undefined) {
      this.timers.clear(this.timer);
      this.timer = undefined;
    }
  }
}

/** Runs as soon as there was no call for so many milliseconds. */
export class Settling extends Coalescing {
  override call(): void {
    this.dispose();
    super.call();
  }
}
