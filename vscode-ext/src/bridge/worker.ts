/** A worker as the bridge tells of it (docs/requests.md), and how workers are counted. */

export type State = 'paused' | 'attaching' | 'stopped' | 'running' | 'detached' | 'gone';

export interface StoppedThread {
  readonly threadId: number;
  readonly name: string;
  readonly reason: string;
  /** The type of the exception it stopped for, else empty. */
  readonly error: string;
}

export interface Worker {
  readonly key: string;
  readonly name: string;
  readonly state: State;
  /** Seconds that the state has lasted when this was told. */
  readonly age: number;
  readonly type: 'worker' | 'driver' | 'target' | 'child';
  /** 0 if it is not known. */
  readonly pid: number;
  readonly node: string;
  readonly nodeId: string;
  readonly job: string;
  readonly submission: string;
  readonly actor: string;
  readonly actorName: string;
  readonly task: string;
  readonly threads: readonly StoppedThread[];
  readonly problem: string;
}

/** States that are shown, in the order in which workers are sorted. */
export const SHOWN = ['stopped', 'attaching', 'paused', 'running', 'gone'] as const;

export type Tally = Record<(typeof SHOWN)[number], number>;

export function noTally(): Tally {
  return { stopped: 0, attaching: 0, paused: 0, running: 0, gone: 0 };
}

/** Like "3 stopped, 12 running"; states without a worker are left out, and so is `without`. */
export function counted(tally: Readonly<Tally>, without: readonly State[] = ['gone']): string {
  return SHOWN.filter((state) => tally[state] > 0 && !without.includes(state))
    .map((state) => `${tally[state]} ${state}`)
    .join(', ');
}

/** Those that wait for somebody: a user, or a debugger. */
export function waiting(tally: Readonly<Tally>): number {
  return tally.stopped + tally.attaching + tally.paused;
}
