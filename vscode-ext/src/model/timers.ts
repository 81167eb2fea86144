/** Many calls within a short time become one. */

export interface Timers {
  set(run: () => void, milliseconds: number): unknown;
  clear(timer: unknown): void;
}

export const NODE_TIMERS: Timers = {
  set: (run, milliseconds) => setTimeout(run, milliseconds),
  clear: (timer) => clearTimeout(timer as NodeJS.Timeout),
};

/** Runs `milliseconds` after the first call since the last run; a function gives them anew for each run. */
export class Throttle {
  private timer: unknown;

  constructor(
    private readonly run: () => void,
    private readonly milliseconds: number | (() => number),
    private readonly timers: Timers = NODE_TIMERS,
  ) {}

  call(): void {
    const { milliseconds } = this;
    this.timer ??= this.timers.set(
      () => {
        this.timer = undefined;
        this.run();
      },
      typeof milliseconds === 'number' ? milliseconds : milliseconds(),
    );
  }

  dispose(): void {
    if (this.timer !== undefined) {
      this.timers.clear(this.timer);
      this.timer = undefined;
    }
  }
}

/** Runs when there was no call for `milliseconds`. */
export class Debounce extends Throttle {
  override call(): void {
    this.dispose();
    super.call();
  }
}
