/** A source of workers whose requests are answered by the test. */

import type { Session } from '../../src/model/cluster-connection';
import type { AnswerTo, ArgumentsOf, RequestName } from '../../src/model/worker-source';
import type { WorkerEntry } from '../../src/protocol/messages';

/** A source that keeps its last request until the test answers it. */
export class FakeSource implements Session {
  /** The received requests, with their arguments if they have any. */
  readonly asked: string[] = [];
  closed = false;
  private answer: (body: never) => void = () => undefined;
  private refuse: (error: Error) => void = () => undefined;

  constructor(readonly id = '') {}

  request<Name extends RequestName>(name: Name, args: ArgumentsOf<Name>): Promise<AnswerTo<Name>> {
    const text = JSON.stringify(args);
    this.asked.push(text === '{}' ? name : `${name} ${text}`);
    return new Promise((resolve, reject) => {
      this.answer = resolve;
      this.refuse = reject;
    });
  }

  async list(...workers: WorkerEntry[]): Promise<void> {
    await this.listDuring('', ...workers);
  }

  /** Answer a request for the list of workers with the URL of the cluster. */
  async listOf(cluster: string, ...workers: WorkerEntry[]): Promise<void> {
    this.answer({ workers, outage: '', cluster } as never);
    await settled();
  }

  async listDuring(outage: string, ...workers: WorkerEntry[]): Promise<void> {
    this.answer({ workers, outage } as never);
    await settled();
  }

  async fail(text: string): Promise<void> {
    this.refuse(new Error(text));
    await settled();
  }

  close(): void {
    this.closed = true;
  }
}

/** Wait until all promises that can settle now have settled. */
export async function settled(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}
