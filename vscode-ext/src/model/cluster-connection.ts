/** The workers of one cluster, as a watcher process or a debug session reports them. */

import type { WorkerList } from '../protocol/messages';
import { ProblemError, type Problem } from './problem';
import type { Cluster } from './saved-clusters';
import type { Timers } from './timers';
import type { AnswerTo, ArgumentsOf, RequestName, WatcherListener, WorkerSource } from './worker-source';
import { WorkerTree, type Change } from './worker-tree';

/** The state of a connection: `watching` has a watcher process, `session` a debug session, `idle` neither of them. */
export type Status =
  | { readonly kind: 'idle' | 'connecting' | 'watching' | 'session' }
  | { readonly kind: 'failed'; readonly problem: Problem };

/** A debug session. If several sessions debug the same cluster, the oldest one is the source of its workers. */
export interface Session extends WorkerSource {
  readonly id: string;
}

/** The functions that a connection needs from the rest of the extension. */
export interface ConnectionEnvironment {
  /** Start a watcher process. Reject with ProblemError if that is not possible. */
  startWatcher(cluster: Cluster, listener: WatcherListener): Promise<WorkerSource>;
  /** Handle a change of the workers or of the status. Without a changed worker, `changes` is empty. */
  changed(connection: ClusterConnection, changes: readonly Change[]): void;
  /** Return the time in milliseconds. */
  now(): number;
  readonly timers: Timers;
}

/**
 * A watcher that ends is restarted only if it has watched for this long. A watcher that ended sooner would end again.
 */
const MIN_WATCHED_MS = 60_000;

/**
 * The time limit for a watcher's first list of workers. Finding the interpreter and starting raydap takes a second or
 * two, and half a minute on a busy machine.
 */
const CONNECT_TIMEOUT_MS = 60_000;

/** One cluster with its workers. Their source is a debug session, else a watcher process. */
export class ClusterConnection {
  readonly tree: WorkerTree;
  status: Status = { kind: 'idle' };
  /**
   * A sentence about the outage while the cluster does not answer, else empty. The tree keeps its workers in that time.
   */
  outage = '';
  /** The URL of the dashboard, as the source has reported it; empty until then. */
  url = '';
  private readonly sessions: Session[] = [];
  private source: WorkerSource | undefined;
  /** Incremented with each change of the source, so that late messages of an earlier source are dropped. */
  private generation = 0;
  /** The updates that arrived before the list that they belong to; undefined once the list has arrived. */
  private earlyUpdates: WorkerList[] | undefined;
  /** The timer that fails the connection if the watcher sends no list in time. */
  private deadline: unknown;
  /** Whether a watcher process is used while there is no session. */
  private watched = false;
  /** When the watcher sent its first list, in milliseconds. */
  private watchingSince = 0;
  /** The request to send for a worker as soon as the session lists it, by the key of the worker. */
  private readonly wanted = new Map<string, 'raydap/attach' | 'raydap/pause'>();

  constructor(
    public cluster: Cluster,
    private readonly environment: ConnectionEnvironment,
  ) {
    this.tree = new WorkerTree(() => environment.now());
  }

  /** The session that is the source of the workers; undefined if no session debugs the cluster. */
  get session(): Session | undefined {
    return this.sessions[0];
  }

  /** Watch the cluster from now on, for the view and its badge. Try again if the last attempt has failed. */
  watch(): void {
    this.watched = true;
    if (this.status.kind === 'idle' || this.status.kind === 'failed') {
      this.connect();
    }
  }

  /** Stop watching the cluster, and forget its workers. A debug session stays the source of the workers. */
  rest(): void {
    this.watched = false;
    if (this.session === undefined) {
      this.tree.replace([]);
      this.connect();
    }
  }

  /** Connect anew, even if the cluster is being watched. */
  reconnect(): void {
    this.watched = true;
    this.connect();
  }

  /** Add a session that debugs this cluster. The first session replaces the watcher process. */
  addSession(session: Session): void {
    this.sessions.push(session);
    if (this.session === session) {
      this.tree.removeGone();
      this.connect();
    }
  }

  /** Remove a session that has ended. If it was the source, the next session or a watcher process replaces it. */
  removeSession(id: string): void {
    const index = this.sessions.findIndex((session) => session.id === id);
    if (index === -1) {
      return;
    }
    this.sessions.splice(index, 1);
    if (index === 0) {
      this.wanted.clear();
      this.tree.removeAttached();
      this.connect();
    }
  }

  /** Apply the update of a session. Ignore it if the session is not the source. */
  workersChanged(sessionId: string, update: WorkerList): void {
    if (this.session?.id === sessionId) {
      this.apply(update);
    }
  }

  /** Attach to workers, or pause them, as soon as the session lists them. */
  async attach(keys: readonly string[], request: 'raydap/attach' | 'raydap/pause' = 'raydap/attach'): Promise<void> {
    for (const key of keys) {
      this.wanted.set(key, request);
    }
    await this.requestWanted();
  }

  /** Send a request to the source. Throw an Error if the cluster is not connected. */
  async request<Name extends RequestName>(name: Name, args: ArgumentsOf<Name>): Promise<AnswerTo<Name>> {
    if (this.source === undefined) {
      throw new Error(`${this.cluster.name} is not connected.`);
    }
    return this.source.request(name, args);
  }

  /** Ask for the URL. raydap does not know it while a launched program has not started its cluster. */
  async identify(): Promise<void> {
    const { cluster = '' } = await this.request('raydap/workers', {});
    this.url = cluster;
  }

  close(): void {
    this.watched = false;
    this.disconnect();
    this.status = { kind: 'idle' };
  }

  /** Make the first session the source; without a session, start a watcher process if the cluster is to be watched. */
  private connect(): void {
    this.disconnect();
    const { generation, session } = this;
    if (session !== undefined) {
      this.setStatus({ kind: 'session' });
      this.source = session;
      void this.list(generation, session);
    } else if (this.watched) {
      this.setStatus({ kind: 'connecting' });
      this.deadline = this.environment.timers.set(
        () => this.fail(generation, new ProblemError(NO_ANSWER)),
        CONNECT_TIMEOUT_MS,
      );
      void this.startWatcher(generation);
    } else {
      this.setStatus({ kind: 'idle' });
    }
  }

  private async startWatcher(generation: number): Promise<void> {
    const ifCurrent = (act: () => void): void => {
      if (generation === this.generation) {
        act();
      }
    };
    const listener: WatcherListener = {
      workersChanged: (update) => ifCurrent(() => this.apply(update)),
      ended: (problem) => ifCurrent(() => this.watcherEnded(problem)),
      replaced: () => ifCurrent(() => this.connect()),
    };
    try {
      const source = await this.environment.startWatcher(this.cluster, listener);
      if (generation !== this.generation) {
        source.close();
        return;
      }
      this.source = source;
      await this.list(generation, source);
    } catch (error) {
      this.fail(generation, error);
    }
  }

  /** Request all workers, then apply the updates that have arrived in the meantime. */
  private async list(generation: number, source: WorkerSource): Promise<void> {
    this.earlyUpdates = [];
    try {
      const { workers, outage, cluster = '' } = await source.request('raydap/workers', { all: true });
      if (generation !== this.generation) {
        return;
      }
      this.url = cluster;
      if (this.status.kind === 'connecting') {
        this.clearDeadline();
        this.status = { kind: 'watching' };
        this.watchingSince = this.environment.now();
      }
      const { earlyUpdates } = this;
      this.earlyUpdates = undefined;
      this.outage = outage;
      this.environment.changed(this, this.tree.replace(workers));
      earlyUpdates.forEach((update) => this.apply(update));
      await this.requestWanted();
    } catch (error) {
      this.fail(generation, error);
    }
  }

  private apply(update: WorkerList): void {
    if (this.earlyUpdates !== undefined) {
      this.earlyUpdates.push(update);
      return;
    }
    this.outage = update.outage;
    this.environment.changed(this, this.tree.apply(update.workers));
    void this.requestWanted().catch(() => undefined);
  }

  /** Send the wanted requests for the workers that the session lists by now. */
  private async requestWanted(): Promise<void> {
    const { session } = this;
    if (session === undefined || this.earlyUpdates !== undefined) {
      return;
    }
    const listed = [...this.wanted].filter(([key]) => this.tree.get(key) !== undefined);
    listed.forEach(([key]) => this.wanted.delete(key));
    const sent = (['raydap/attach', 'raydap/pause'] as const).map(async (request) => {
      const workers = listed.filter(([, name]) => name === request).map(([key]) => key);
      if (workers.length > 0) {
        await session.request(request, { workers });
      }
    });
    await Promise.all(sent);
  }

  private fail(generation: number, error: unknown): void {
    if (generation === this.generation) {
      const text = (error as Error).message;
      const problem: Problem = error instanceof ProblemError ? error.problem : { text, actions: ['showLog'] };
      this.disconnect();
      this.setStatus({ kind: 'failed', problem });
    }
  }

  private watcherEnded(problem: Problem): void {
    const watched = this.status.kind === 'watching' && this.environment.now() - this.watchingSince >= MIN_WATCHED_MS;
    if (watched) {
      this.connect();
    } else {
      this.fail(this.generation, new ProblemError(problem));
    }
  }

  private setStatus(status: Status): void {
    this.status = status;
    this.environment.changed(this, []);
  }

  private disconnect(): void {
    this.generation += 1;
    this.clearDeadline();
    this.earlyUpdates = undefined;
    this.outage = '';
    this.source?.close();
    this.source = undefined;
  }

  private clearDeadline(): void {
    this.environment.timers.clear(this.deadline);
    this.deadline = undefined;
  }
}

const NO_ANSWER: Problem = {
  text: `raydap did not answer within ${CONNECT_TIMEOUT_MS / 1000} seconds. Check the log, or choose another interpreter.`,
  actions: ['showLog', 'chooseInterpreter'],
};
