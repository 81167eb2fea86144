/** A cluster that is looked at: what is known of its workers, and from whom. */

import { argumentsFor, isHub, type Cluster } from './clusters';
import type { Timers } from './coalescing';
import { Fleet, type Change } from './fleet';
import type { Problem } from './problems';
import { Refused, type Attach, type Listener, type Source, type Told } from './watcher';

export type Status =
  | { readonly kind: 'idle' | 'connecting' | 'watching' | 'session' }
  | { readonly kind: 'failed'; readonly problem: Problem };

/** A debug session; more than one can debug the same cluster, and the oldest is listened to. */
export interface Session extends Source {
  readonly id: string;
}

export interface Surroundings {
  /** Starts watching. Rejects with Refused if there is nothing that could be started. */
  watch(cluster: Cluster, listener: Listener): Promise<Source>;
  /** The workers or the status are different. */
  changed(live: Live, changes: readonly Change[]): void;
  now(): number;
  readonly timers: Timers;
}

/** A watcher that has lasted so long is started again when it ends; one that ends sooner would do so again. */
const LASTING_MS = 60_000;

/** Finding the interpreter and starting raydap take a second or two; on a machine that is busy, half a minute. */
const PATIENCE_MS = 60_000;

export class Live {
  readonly fleet: Fleet;
  status: Status = { kind: 'idle' };
  /** A sentence while the cluster does not answer, else empty; the workers are as they were. */
  outage = '';
  private readonly sessions: Session[] = [];
  private source: Source | undefined;
  /** Raised whenever another source is taken; what an earlier one says then, comes too late. */
  private turn = 0;
  /** Changes that came before the list, to which they belong. */
  private early: Told[] | undefined;
  private deadline: unknown;
  private watched = false;
  private watchingSince = 0;
  /** Keys of workers to attach to, when the session that was started for it knows them. */
  private readonly wanted = new Set<string>();

  constructor(
    public cluster: Cluster,
    private readonly around: Surroundings,
  ) {
    this.fleet = new Fleet(() => around.now());
  }

  get session(): Session | undefined {
    return this.sessions[0];
  }

  /** Somebody looks. From now on it is watched whenever there is no session, for the sake of the badge. */
  look(): void {
    this.watched = true;
    if (this.status.kind === 'idle' || this.status.kind === 'failed') {
      this.connect();
    }
  }

  reconnect(): void {
    this.watched = true;
    this.connect();
  }

  begun(session: Session): void {
    this.sessions.push(session);
    if (this.session === session) {
      this.fleet.forgetGone();
      this.connect();
    }
  }

  /** The last session leaves the workers to whoever watches. */
  ended(id: string): void {
    const index = this.sessions.findIndex((session) => session.id === id);
    if (index === -1) {
      return;
    }
    this.sessions.splice(index, 1);
    if (index === 0) {
      this.wanted.clear();
      this.fleet.leave();
      this.connect();
    }
  }

  /** An event of a session. */
  heard(id: string, told: Told): void {
    if (this.session?.id === id) {
      this.take(told);
    }
  }

  /** Attaches to workers as soon as the session lists them. */
  async attach(keys: readonly string[]): Promise<void> {
    for (const key of keys) {
      this.wanted.add(key);
    }
    await this.attachWanted();
  }

  async request(command: string, args?: object): Promise<unknown> {
    if (this.source === undefined) {
      throw new Error(`${this.cluster.name} is not connected.`);
    }
    return this.source.request(command, args);
  }

  close(): void {
    this.watched = false;
    this.release();
    this.status = { kind: 'idle' };
  }

  /** Takes the first session, else a watcher if somebody has looked. */
  private connect(): void {
    this.release();
    const { turn, session } = this;
    if (session !== undefined) {
      this.become({ kind: 'session' });
      this.source = session;
      void this.list(turn, session);
    } else if (this.watched) {
      this.become({ kind: 'connecting' });
      // Whatever it is that does not come to an end, the user is told so.
      this.deadline = this.around.timers.set(() => {
        this.failed(turn, new Refused(SILENT));
      }, PATIENCE_MS);
      void this.watch(turn);
    } else {
      this.become({ kind: 'idle' });
    }
  }

  private async watch(turn: number): Promise<void> {
    const listener: Listener = {
      heard: (told) => {
        if (turn === this.turn) {
          this.take(told);
        }
      },
      ended: (problem) => {
        if (turn === this.turn) {
          this.lost(problem);
        }
      },
      replaced: () => {
        if (turn === this.turn) {
          this.connect();
        }
      },
    };
    try {
      const source = await this.around.watch(this.cluster, listener);
      if (turn !== this.turn) {
        source.close();
        return;
      }
      this.source = source;
      await this.list(turn, source);
    } catch (error) {
      this.failed(turn, error);
    }
  }

  private async list(turn: number, source: Source): Promise<void> {
    this.early = [];
    try {
      const { workers, outage = '' } = (await source.request('raydap/workers')) as Told;
      if (turn !== this.turn) {
        return;
      }
      if (this.status.kind === 'connecting') {
        this.rest();
        this.status = { kind: 'watching' };
        this.watchingSince = this.around.now();
      }
      const { early } = this;
      this.early = undefined;
      this.outage = outage;
      this.around.changed(this, this.fleet.replace(workers));
      early.forEach((later) => {
        this.take(later);
      });
      await this.attachWanted();
    } catch (error) {
      this.failed(turn, error);
    }
  }

  private take(told: Told): void {
    if (this.early !== undefined) {
      this.early.push(told);
      return;
    }
    this.outage = told.outage ?? '';
    this.around.changed(this, this.fleet.apply(told.workers));
    void this.attachWanted().catch(() => undefined);
  }

  private async attachWanted(): Promise<void> {
    const { session } = this;
    if (session === undefined || this.early !== undefined) {
      return;
    }
    const known = [...this.wanted].filter((key) => this.fleet.get(key) !== undefined);
    if (known.length > 0) {
      known.forEach((key) => this.wanted.delete(key));
      await session.request('raydap/attach', { workers: known });
    }
  }

  private failed(turn: number, error: unknown): void {
    if (turn === this.turn) {
      const problem = error instanceof Refused ? error.problem : { text: (error as Error).message, steps: [] };
      this.release();
      this.become({ kind: 'failed', problem });
    }
  }

  private lost(problem: Problem): void {
    const lasted = this.status.kind === 'watching' && this.around.now() - this.watchingSince >= LASTING_MS;
    if (lasted) {
      this.connect();
    } else {
      this.failed(this.turn, new Refused(problem));
    }
  }

  private become(status: Status): void {
    this.status = status;
    this.around.changed(this, []);
  }

  private release(): void {
    this.turn += 1;
    this.rest();
    this.early = undefined;
    this.outage = '';
    this.source?.close();
    this.source = undefined;
  }

  /** Nothing is waited for any more. */
  private rest(): void {
    this.around.timers.clear(this.deadline);
    this.deadline = undefined;
  }
}

const SILENT: Problem = {
  text: `raydap has not answered within ${PATIENCE_MS / 1000} seconds.`,
  steps: ['showLog', 'chooseInterpreter'],
};

/**
 * What `attach` of a watcher takes: it disturbs nobody, and at a hub it may not. Whoever comes first to a hub says what is
 * debugged there, so a watcher says what a session of the same folder would.
 */
export function watching(cluster: Cluster, workspaceFolder?: string): Attach {
  if (!isHub(cluster.address)) {
    return { first: { ...argumentsFor(cluster), autoAttach: false } };
  }
  const join = { autoAttach: false, role: 'observer' };
  return workspaceFolder === undefined ? { first: join } : { first: { ...join, workspaceFolder }, join };
}
