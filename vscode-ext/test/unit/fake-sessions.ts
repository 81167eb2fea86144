/** Debug sessions of VS Code whose requests are answered by the test, and their registry. */

import type { DebugSession } from 'vscode';

import { ClusterRegistry } from '../../src/model/cluster-registry';
import { SavedClusters } from '../../src/model/saved-clusters';
import { NODE_TIMERS } from '../../src/model/timers';
import type { WorkerEntry } from '../../src/protocol/messages';
import { DebugSessions } from '../../src/views/debug-sessions';
import { memory } from './example';
import { settled } from './fake-source';
import { debug, events } from './fake-vscode';

type Answer = (args: never) => unknown;

/** A session with fixed workers. */
export class FakeSession {
  readonly type = 'raydap';
  readonly name: string;
  /** The received requests with their arguments, except requests for the list of workers. */
  readonly asked: string[] = [];

  constructor(
    readonly id: string,
    private readonly workers: readonly WorkerEntry[],
    readonly configuration: object = { request: 'attach', dashboard: id },
    readonly parentSession?: FakeSession,
    private readonly answers: Readonly<Record<string, Answer>> = {},
  ) {
    this.name = id;
  }

  customRequest(command: string, args: { threads?: number[] }): Promise<unknown> {
    if (command === 'raydap/workers') {
      return Promise.resolve({ workers: this.workers, outage: '' });
    }
    this.asked.push(`${command} ${JSON.stringify(args)}`);
    const all = this.workers.flatMap(({ threads }) => threads.map(({ threadId }) => threadId));
    const answer: Answer = this.answers[command] ?? (() => ({ threads: args.threads ?? all, barriers: [] }));
    return Promise.resolve(answer(args as never));
  }
}

/** Start these sessions, in this order. */
export async function begin(...sessions: readonly FakeSession[]): Promise<DebugSessions> {
  const registry = new ClusterRegistry(new SavedClusters(memory()), {
    startWatcher: () => Promise.reject(new Error('There is no watcher.')),
    changed: () => undefined,
    now: () => 0,
    timers: NODE_TIMERS,
  });
  const known = new DebugSessions(registry);
  sessions.forEach((session) => {
    events.started.fire(session);
  });
  await settled();
  return known;
}

/** Move the focus to this thread, as the user or a stop does. */
export function focus(session: FakeSession, threadId: number): void {
  const item = { session: session as unknown as DebugSession, threadId };
  Object.assign(debug, { activeStackItem: item, activeDebugSession: session });
  events.activeStackItem.fire(item);
}
