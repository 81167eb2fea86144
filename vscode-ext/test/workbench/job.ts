/** The debugged program, in a process of its own. */

import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';

import { given } from './installation';

/** The time limit for the end of a job whose workers have all left their breakpoints. */
const END_TIMEOUT_MS = 60_000;

/** A running program. */
export class Job {
  private output = '';
  /** Only the program's own lines: in `output`, a line of Ray's log may follow a text before its line break. */
  private printed = '';
  private readonly closed: Promise<unknown>;

  private constructor(private readonly process: ChildProcess) {
    this.closed = once(process, 'close');
    for (const stream of [process.stdout, process.stderr]) {
      stream?.on('data', (data: Buffer) => {
        this.output += data.toString();
      });
    }
    process.stdout?.on('data', (data: Buffer) => {
      this.printed += data.toString();
    });
  }

  static start(program: string): Job {
    return new Job(spawn(given('RAYDAP_TEST_PYTHON'), [program], { stdio: ['ignore', 'pipe', 'pipe'] }));
  }

  /** Wait for the end of the program. Throw after a minute, because a test that never ends takes no screenshot. */
  async ended(): Promise<'ended'> {
    const abort = new AbortController();
    const late = setTimeout(END_TIMEOUT_MS, 'late', { signal: abort.signal }).catch(() => 'ended');
    const first = await Promise.race([this.closed, late]);
    abort.abort();
    assert.notEqual(first, 'late', `the job still runs after ${END_TIMEOUT_MS} ms:\n${this.output}`);
    return 'ended';
  }

  /** Wait for the end of the program and return the result that it has printed. Throw if it has failed. */
  async result(): Promise<string | undefined> {
    await this.ended();
    assert.equal(this.process.exitCode, 0, this.output);
    return /^result: (.*)$/m.exec(this.printed)?.[1];
  }

  end(): void {
    this.process.kill();
  }
}
