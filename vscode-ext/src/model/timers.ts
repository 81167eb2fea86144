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

/** Numbers attempts, so that an older one does not overwrite what a later one has found. */
export class Latest {
  private count = 0;

  /** Begins an attempt. Returns a function that returns whether no later attempt has begun. */
  begin(): () => boolean {
    this.count += 1;
    const own = this.count;
    return () => own === this.count;
  }
}

/**
 * Reads at most once within `milliseconds`, and one read at a time: calls during a read become one more read after it.
 * Only the latest read counts.
 */
export class LatestRead<Answer> {
  private readonly latest = new Latest();
  private readonly throttle: Throttle;
  private isReading = false;
  private isStale = false;

  /** `take` gets the answers. An error of `read` is dropped, unless `restart` has begun the read. */
  constructor(
    private readonly read: () => Promise<Answer>,
    private readonly take: (answer: Answer) => void,
    milliseconds: number | (() => number),
    timers: Timers = NODE_TIMERS,
  ) {
    this.throttle = new Throttle(() => void this.restart().catch(() => undefined), milliseconds, timers);
  }

  /** There may be something new to read. */
  call(): void {
    if (this.isReading) {
      this.isStale = true;
    } else {
      this.throttle.call();
    }
  }

  /** Reads now, because the question has changed. Drops the answer of a read that has begun before. */
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
