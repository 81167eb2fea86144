/** VS Code's debug sessions. The registry lists the workers of each, and commands look up the session of a worker. */

import * as vscode from 'vscode';

import type { ClusterConnection } from '../model/cluster-connection';
import type { ClusterRegistry, ConfiguredSession } from '../model/cluster-registry';
import type { AnswerTo, ArgumentsOf, RequestName, WorkerSource } from '../model/worker-source';
import type { WorkerNode } from '../model/worker-tree';
import type { Events, WorkerEntry, WorkerList } from '../protocol/messages';

const WORKERS_CHANGED: keyof Events = 'raydap/workersChanged';

/** The configuration key by which a child session names its worker to raydap. */
const CHILD = '__raydap';

/** The cluster that a session debugs, and the receiver of requests about it. */
export interface Debuggee {
  readonly connection: ClusterConnection;
  /** The connection if it gets its workers from this session, else the session. */
  readonly requester: Pick<WorkerSource, 'request'>;
  /** The id of the session; for a child session, the id of its parent. */
  readonly sessionId: string;
}

/** All raydap sessions of this window. */
export class DebugSessions implements vscode.Disposable {
  private readonly sessions = new Map<string, vscode.DebugSession>();
  /** The child sessions, by the key of the one worker that each shows. */
  private readonly children = new Map<string, vscode.DebugSession>();
  private readonly subscriptions: vscode.Disposable;

  constructor(readonly registry: ClusterRegistry) {
    this.subscriptions = vscode.Disposable.from(
      vscode.debug.onDidStartDebugSession((session) => this.add(session)),
      vscode.debug.onDidTerminateDebugSession((session) => this.remove(session)),
      vscode.debug.onDidReceiveDebugSessionCustomEvent(({ session, event, body }) => {
        if (event === WORKERS_CHANGED) {
          registry.workersChanged(session.id, body as WorkerList);
        }
      }),
    );
  }

  /** The cluster of the active session, else the first cluster that is debugged. */
  get current(): ClusterConnection | undefined {
    const active = vscode.debug.activeDebugSession;
    const debugged = this.registry.all.find(({ session }) => session !== undefined);
    return (active && this.registry.connectionOfSession(rootOf(active).id)) ?? debugged;
  }

  /** All sessions except child sessions. */
  get roots(): readonly vscode.DebugSession[] {
    return [...this.sessions.values()];
  }

  /** Return the session with this id of VS Code. It may be a child session. */
  get(id: string): vscode.DebugSession | undefined {
    return this.sessions.get(id) ?? [...this.children.values()].find((child) => child.id === id);
  }

  /**
   * Return the cluster that a session or its parent debugs, and the object that sends requests to exactly that session.
   */
  debuggeeOf(session: vscode.DebugSession): Debuggee | undefined {
    const { id } = rootOf(session);
    const connection = this.registry.connectionOfSession(id);
    const own = this.registry.sessionOf(id);
    const requester = connection?.session === own ? connection : own;
    return connection && requester && { connection, requester, sessionId: id };
  }

  /** Return whether `session` is `above`, or a child session of it. */
  isWithin(session: vscode.DebugSession, above: vscode.DebugSession): boolean {
    return (
      session.id === above.id || (session.parentSession !== undefined && this.isWithin(session.parentSession, above))
    );
  }

  /** Return the worker that a child session shows; undefined for all other sessions. */
  workerOf(session: vscode.DebugSession): WorkerEntry | undefined {
    const key = workerKeyOf(session);
    return key === undefined ? undefined : this.debuggeeOf(session)?.connection.tree.get(key)?.worker;
  }

  /** Return the session that is the source of the connection's workers. */
  sessionOf({ session }: ClusterConnection): vscode.DebugSession | undefined {
    return session && this.sessions.get(session.id);
  }

  /** Return the session in which VS Code shows the stops of a worker. */
  sessionOfWorker({ worker }: WorkerNode, connection: ClusterConnection): vscode.DebugSession | undefined {
    const child = this.children.get(worker.key);
    const isCurrent = child?.parentSession !== undefined && child.parentSession.id === connection.session?.id;
    return isCurrent ? child : this.sessionOf(connection);
  }

  dispose(): void {
    this.subscriptions.dispose();
  }

  private add(session: vscode.DebugSession): void {
    const key = workerKeyOf(session);
    if (key !== undefined) {
      this.children.set(key, session);
    } else if (session.type === 'raydap' && session.parentSession === undefined) {
      this.sessions.set(session.id, session);
      this.registry.addSession(new EditorSession(session));
    }
  }

  private remove(session: vscode.DebugSession): void {
    const key = workerKeyOf(session);
    if (key !== undefined && this.children.get(key)?.id === session.id) {
      this.children.delete(key);
    }
    if (this.sessions.delete(session.id)) {
      this.registry.removeSession(session.id);
    }
  }
}

/** Return the session that a child session belongs to; for any other session, the session itself. */
export function rootOf(session: vscode.DebugSession): vscode.DebugSession {
  return session.parentSession === undefined ? session : rootOf(session.parentSession);
}

/** Return the key of the worker that a child session shows; undefined for all other sessions. */
function workerKeyOf({ type, parentSession, configuration }: vscode.DebugSession): string | undefined {
  return type === 'raydap' && parentSession !== undefined
    ? (configuration[CHILD] as { worker?: string } | undefined)?.worker
    : undefined;
}

/** A session of VS Code as a source of workers. */
class EditorSession implements ConfiguredSession {
  readonly id: string;
  readonly name: string;
  readonly configuration: vscode.DebugConfiguration;

  constructor(private readonly session: vscode.DebugSession) {
    this.id = session.id;
    this.name = session.name;
    this.configuration = session.configuration;
  }

  async request<Name extends RequestName>(name: Name, args: ArgumentsOf<Name>): Promise<AnswerTo<Name>> {
    return (await this.session.customRequest(name, args)) as AnswerTo<Name>;
  }

  /** Do nothing: only the user ends a session. */
  close(): void {
    return;
  }
}
