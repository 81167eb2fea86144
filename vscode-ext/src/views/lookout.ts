/** All clusters that are shown, and the sessions that debug them. */

import * as vscode from 'vscode';

import { Coalescing, REAL, Settling } from '../bridge/coalescing';
import { clusterOf, type Cluster, type Clusters } from '../bridge/clusters';
import type { Change, Leaf, Node } from '../bridge/fleet';
import { Live, type Session, type Surroundings } from '../bridge/live';
import { TOLD, type Told } from '../bridge/watcher';

/** Changes are shown together, a few times a second; a step is over before. */
const TOGETHER_MS = 250;

/** The workers of a job that collapses are lost one after the other; when no more are, one message tells of them all. */
const CALM_MS = 1500;

/** The key in a child session's configuration by which the bridge knows its worker. */
const TICKET = '__raydap';

export class Lookout implements vscode.Disposable {
  private readonly saved = new Map<string, Live>();
  /** Those of sessions whose cluster is not in the list, by the session. */
  private readonly passing = new Map<string, Live>();
  private readonly sessions = new Map<string, vscode.DebugSession>();
  /** Those that show one worker each, by its key. */
  private readonly children = new Map<string, vscode.DebugSession>();
  private readonly places = new Map<string, Live>();
  private readonly differing = new Set<Live>();
  private lost: Change[] = [];
  private looking = false;

  private readonly showing = new Coalescing(() => {
    this.show();
  }, TOGETHER_MS);
  private readonly losing = new Settling(() => {
    const { lost } = this;
    this.lost = [];
    this.losses.fire(lost);
  }, CALM_MS);
  private readonly changes = new vscode.EventEmitter<ReadonlySet<Live>>();
  private readonly losses = new vscode.EventEmitter<readonly Change[]>();
  private readonly subscriptions: readonly { dispose(): unknown }[];
  private readonly around: Surroundings;

  /** Workers, a status, or the list itself may be different. */
  readonly onDidChange = this.changes.event;
  /** Workers that were debugged are gone, or out of the debugger's reach, and ought not to be. */
  readonly onDidLose = this.losses.event;

  constructor(
    readonly clusters: Clusters,
    watch: Surroundings['watch'],
  ) {
    this.around = {
      watch,
      changed: (live, changes) => {
        this.note(live, changes);
      },
      now: Date.now,
      timers: REAL,
    };
    clusters.all.forEach((cluster) => this.saved.set(cluster.id, new Live(cluster, this.around)));
    this.subscriptions = [
      this.changes,
      this.losses,
      vscode.debug.onDidStartDebugSession((session) => {
        if (isOurs(session)) {
          this.sessions.set(session.id, session);
          this.assign(session);
        } else {
          this.adopt(session);
        }
      }),
      vscode.debug.onDidTerminateDebugSession((session) => {
        this.sessions.delete(session.id);
        this.abandon(session);
        this.leave(session.id);
      }),
      vscode.debug.onDidReceiveDebugSessionCustomEvent(({ session, event, body }) => {
        if (event === TOLD) {
          this.places.get(session.id)?.heard(session.id, body as Told);
        }
      }),
    ];
  }

  get all(): readonly Live[] {
    return [...this.saved.values(), ...this.passing.values()];
  }

  isSaved(live: Live): boolean {
    return this.saved.get(live.cluster.id) === live;
  }

  /** The view is seen. What could not be reached before is tried again. */
  look(): void {
    this.looking = true;
    this.saved.forEach((live) => {
      live.look();
    });
  }

  async add(address: string): Promise<void> {
    const cluster = await this.clusters.add(address);
    if (!this.saved.has(cluster.id)) {
      this.saved.set(cluster.id, new Live(cluster, this.around));
    }
    this.moveSessions();
    this.find(cluster.id)?.look();
    this.changed();
  }

  async remove(live: Live): Promise<void> {
    await this.clusters.remove(live.cluster.id);
    this.saved.delete(live.cluster.id);
    this.moveSessions();
    live.close();
    this.changed();
  }

  async change(live: Live, difference: Partial<Omit<Cluster, 'id'>>): Promise<void> {
    await this.clusters.change(live.cluster.id, difference);
    live.cluster = { ...live.cluster, ...difference };
    this.note(live, []);
  }

  liveOf(node: Node): Live | undefined {
    let root = node;
    while (root.parent !== undefined) {
      root = root.parent;
    }
    return this.all.find((live) => live.fleet.root === root);
  }

  /** The cluster of the session that the user looks at, else the only one that is debugged. */
  get current(): Live | undefined {
    let active = vscode.debug.activeDebugSession;
    while (active?.parentSession !== undefined) {
      active = active.parentSession;
    }
    const debugged = this.all.filter((live) => live.session !== undefined);
    return (active && this.places.get(active.id)) ?? debugged[0];
  }

  sessionOf(live: Live): vscode.DebugSession | undefined {
    return live.session && this.sessions.get(live.session.id);
  }

  /** The session in which VS Code shows the stops of this worker. */
  sessionWith({ worker }: Leaf, live: Live): vscode.DebugSession | undefined {
    const child = this.children.get(worker.key);
    return child?.parentSession?.id === live.session?.id && child !== undefined ? child : this.sessionOf(live);
  }

  find(id: string): Live | undefined {
    return this.saved.get(id);
  }

  dispose(): void {
    this.showing.dispose();
    this.losing.dispose();
    this.all.forEach((live) => {
      live.close();
    });
    this.subscriptions.forEach((subscription) => subscription.dispose());
  }

  private assign(session: vscode.DebugSession): void {
    const cluster = clusterOf(this.clusters.all, session.configuration);
    const live = (cluster && this.saved.get(cluster.id)) ?? this.pass(session);
    this.places.set(session.id, live);
    live.begun(new Debugging(session));
    this.changed();
  }

  private adopt(child: vscode.DebugSession): void {
    const key = workerOf(child);
    if (key !== undefined) {
      this.children.set(key, child);
    }
  }

  private abandon(child: vscode.DebugSession): void {
    const key = workerOf(child);
    if (key !== undefined && this.children.get(key)?.id === child.id) {
      this.children.delete(key);
    }
  }

  private pass(session: vscode.DebugSession): Live {
    const live = new Live({ id: session.id, name: session.name, address: '' }, this.around);
    this.passing.set(session.id, live);
    return live;
  }

  private leave(id: string): void {
    const live = this.places.get(id);
    this.places.delete(id);
    this.passing.delete(id);
    live?.ended(id);
    this.changed();
  }

  /** The list is different: each session goes where it belongs now. */
  private moveSessions(): void {
    for (const session of this.sessions.values()) {
      const cluster = clusterOf(this.clusters.all, session.configuration);
      const live = this.places.get(session.id);
      if (live !== undefined && (cluster?.id ?? session.id) !== live.cluster.id) {
        this.leave(session.id);
        this.assign(session);
      }
    }
  }

  private note(live: Live, changes: readonly Change[]): void {
    this.differing.add(live);
    const lost = live.session === undefined ? [] : changes.filter(isLoss);
    if (lost.length > 0) {
      this.lost.push(...lost);
      this.losing.call();
    }
    this.showing.call();
  }

  private show(): void {
    const differing = new Set(this.differing);
    this.differing.clear();
    this.changes.fire(differing);
  }

  private changed(): void {
    if (this.looking) {
      this.saved.forEach((live) => {
        if (live.status.kind === 'idle') {
          live.look();
        }
      });
    }
    this.showing.call();
  }
}

/** Child sessions show one worker each; their parent knows all of them. */
function isOurs(session: vscode.DebugSession): boolean {
  return session.type === 'raydap' && session.parentSession === undefined;
}

function workerOf(child: vscode.DebugSession): string | undefined {
  const ticket = child.type === 'raydap' ? (child.configuration[TICKET] as { worker?: string } | undefined) : undefined;
  return ticket?.worker;
}

function isLoss({ before, worker }: Change): boolean {
  return worker.state === 'gone' && worker.problem !== '' && before?.state !== 'gone';
}

class Debugging implements Session {
  readonly id: string;

  constructor(private readonly session: vscode.DebugSession) {
    this.id = session.id;
  }

  async request(command: string, args?: object): Promise<unknown> {
    return this.session.customRequest(command, args);
  }

  /** A session ends when its user says so. */
  close(): void {
    return;
  }
}

export type Element = Live | Node | Trouble;

/** The line below a cluster that cannot be looked at. */
export class Trouble {
  constructor(readonly live: Live) {}
}

export function isNode(element: Element): element is Node {
  return !(element instanceof Live) && !(element instanceof Trouble);
}
