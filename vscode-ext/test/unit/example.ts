/** Example data for tests. */

import type { Memento } from '../../src/model/token-store';
import type { Failure } from '../../src/protocol/dap';
import type { Evaluation, StoppedThread, WorkerEntry } from '../../src/protocol/messages';

export function worker(key: string | number, difference: Partial<WorkerEntry> = {}): WorkerEntry {
  const pid = Number(key) || 1;
  return {
    key: String(key),
    name: `Trainer ${pid} · train · ${pid} · 10.0.0.7`,
    title: `Trainer ${pid}`,
    label: `Trainer ${pid} · train`,
    where: `${pid} · 10.0.0.7`,
    state: 'paused',
    age: 0,
    type: 'worker',
    pid,
    node: '10.0.0.7',
    nodeId: 'abcdef0123456789',
    job: '01000000',
    submission: '',
    actor: 'Trainer',
    actorName: '',
    task: 'Trainer.train',
    agent: false,
    threads: [],
    problem: '',
    ...difference,
  };
}

export function thread(threadId: number, difference: Partial<StoppedThread> = {}): StoppedThread {
  return { threadId, name: `thread ${threadId}`, reason: 'breakpoint', error: '', order: 0, place: '', ...difference };
}

/** Return one evaluation for each value, each in a thread of its own. */
export function evaluations(...values: string[]): Evaluation[] {
  const label = 'Trainer.train';
  return values.map((value, threadId) => ({ threadId, name: `${label} · ${threadId}`, label, value, type: 'float' }));
}

/** Return the answer to an `attach` that has failed. */
export function failure(id: number | undefined, text: string): Failure {
  const error = id === undefined ? { format: text } : { id, format: text };
  return { type: 'response', success: false, command: 'attach', message: text, body: { error } };
}

/** Return an empty storage. */
export function memory(): Memento {
  const values = new Map<string, unknown>();
  return {
    get: <T>(key: string, otherwise: T) => (values.has(key) ? (values.get(key) as T) : otherwise),
    update: (key, value) => {
      values.set(key, value);
      return Promise.resolve();
    },
  };
}
