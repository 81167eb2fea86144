/** Workers to test with. */

import type { StoppedThread, Worker } from '../../src/bridge/worker';

export function worker(key: string | number, difference: Partial<Worker> = {}): Worker {
  const pid = Number(key) || 1;
  return {
    key: String(key),
    name: `Trainer.train · ${pid} · 10.0.0.7`,
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
    threads: [],
    problem: '',
    ...difference,
  };
}

export function thread(threadId: number, difference: Partial<StoppedThread> = {}): StoppedThread {
  return { threadId, name: `thread ${threadId}`, reason: 'breakpoint', error: '', ...difference };
}
