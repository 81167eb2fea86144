/** A cluster that is looked at: what is known of its workers, and from whom. */

import { argumentsFor, isHub, type Cluster } from './clusters';
import { Fleet, type Change } from './fleet';
import type { Problem } from './problems';
import { Refused, type Listener, type Source, type Told } from './watcher';
import type { Worker } from './worker';

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
}

/** A watcher that has lasted so long is started again when it ends; one that ends sooner would do so again. */
const LASTING_MS = 60_000;

export class Live {
  readonly fleet: Fleet;
  status: Status = { kind: 'idle' };
  private readonly sessions: Session[] = [];
  private source: Source | undefined;
  /** Raised whenever another source is taken; what an earlier one says then, comes too late. */
  private turn = 0;
  /** Changes that came before the list, to which they belong. */
  private early: (readonly Worker[])[] | undefined;
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
  heard(id: string, workers: readonly Worker[]): void {
    if (this.session?.id === id) {
      this.take(workers);
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
      void this.watch(turn);
    } else {
      this.become({ kind: 'idle' });
    }
  }

  private async watch(turn: number): Promise<void> {
    const listener: Listener = {
      changed: (workers) => {
        if (turn === this.turn) {
          this.take(workers);
        }
      },
      ended: (problem) => {
        if (turn === this.turn) {
          this.lost(problem);
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
      const { workers } = (await source.request('raydap/workers')) as Told;
      if (turn !== this.turn) {
        return;
      }
      if (this.status.kind === 'connecting') {
        this.status = { kind: 'watching' };
        this.watchingSince = this.around.now();
      }
      const { early } = this;
      this.early = undefined;
      this.around.changed(this, this.fleet.replace(workers));
      early.forEach((later) => {
        this.take(later);
      });
      await this.attachWanted();
    } catch (error) {
      this.failed(turn, error);
    }
  }

  private take(workers: readonly Worker[]): void {
    if (this.early !== undefined) {
      this.early.push(workers);
      return;
    }
    this.around.changed(this, this.fleet.apply(workers));
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
    this.early = undefined;
    this.source?.close();
    this.source = undefined;
  }
}

/** What `attach` of a watcher takes: it disturbs nobody, and at a hub it may not. */
export function watching(cluster: Cluster): object {
  return isHub(cluster.address)
    ? { autoAttach: false, role: 'observer' }
    : { ...argumentsFor(cluster), autoAttach: false };
}
