/** The program that is debugged, as a process of its own. */

import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';

import { given } from './workbench';

export class Job {
  private output = '';

  private constructor(private readonly process: ChildProcess) {
    for (const stream of [process.stdout, process.stderr]) {
      stream?.on('data', (data: Buffer) => {
        this.output += data.toString();
      });
    }
  }

  static start(program: string): Job {
    return new Job(spawn(given('RAYDAP_TEST_PYTHON'), [program], { stdio: ['ignore', 'pipe', 'pipe'] }));
  }

  async ended(): Promise<'ended'> {
    if (this.process.exitCode === null) {
      await once(this.process, 'close');
    }
    return 'ended';
  }

  /** The line that the program prints last, when it has ended without an error. */
  async result(): Promise<string | undefined> {
    await this.ended();
    assert.equal(this.process.exitCode, 0, this.output);
    return /^result: (.*)$/m.exec(this.output)?.[1];
  }

  end(): void {
    this.process.kill();
  }
}
