/** Timers that turn many calls within a short time into one. */

/** The functions that start and clear timers; tests have their own. */
export interface Timers {
  set(run: () => void, milliseconds: number): unknown;
  clear(timer: unknown): void;
}

export const NODE_TIMERS: Timers = {
  set: (run, milliseconds) => setTimeout(run, milliseconds),
  clear: (timer) => clearTimeout(timer as NodeJS.Timeout),
};

/**
 * A delayed function. It runs `milliseconds` after the first call since its last run. If `milliseconds` is a function,
 * it returns the delay of the next run.
 */
export class Throttle {
  private timer: unknown;

  constructor(
    private readonly run: () => void,
    private readonly milliseconds: number | (() => number),
    private readonly timers: Timers = NODE_TIMERS,
  ) {}

  /** Schedule a run, unless one is already scheduled. */
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

/** A delayed function that runs when there has been no call for `milliseconds`. */
export class Debounce extends Throttle {
  override call(): void {
    this.dispose();
    super.call();
  }
}

/** A counter of attempts, so that the result of an older attempt does not replace that of a later one. */
export class Latest {
  private count = 0;

  /** Begin an attempt. Return a function that returns whether the attempt is still the latest one. */
  begin(): () => boolean {
    this.count += 1;
    const own = this.count;
    return () => own === this.count;
  }
}

/**
 * A read that runs at most once every `milliseconds`. Calls during a read cause one more read after it. Only the
 * answer of the latest read is used.
 */
export class LatestRead<Answer> {
  private readonly latest = new Latest();
  private readonly throttle: Throttle;
  private isReading = false;
  /** Whether there was a call during the present read. */
  private isStale = false;

  /** `take` receives the answers. An error of `read` is ignored, unless `restart` began the read. */
  constructor(
    private readonly read: () => Promise<Answer>,
    private readonly take: (answer: Answer) => void,
    milliseconds: number | (() => number),
    timers: Timers = NODE_TIMERS,
  ) {
    this.throttle = new Throttle(() => void this.restart().catch(() => undefined), milliseconds, timers);
  }

  /** Schedule a read, because there may be something new. */
  call(): void {
    if (this.isReading) {
      this.isStale = true;
    } else {
      this.throttle.call();
    }
  }

  /** Read now, because the question has changed. Drop the answer of an earlier read that has not ended. */
  async restart(): Promise<void> {
    const isLatest = this.latest.begin();
    this.throttle.dispose();
    this.isReading = true;
    this.isStale = false;
    try {
      const answer = await this.read();
      if (isLatest()) {
        this.take(answer);
      }
    } finally {
      if (isLatest()) {
        this.finish();
      }
    }
  }

  dispose(): void {
    this.latest.begin();
    this.throttle.dispose();
  }

  private finish(): void {
    this.isReading = false;
    if (this.isStale) {
      this.throttle.call();
    }
  }
}
