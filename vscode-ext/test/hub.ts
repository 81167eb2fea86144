/** A real hub of the cluster under test. */

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A hub in a process of its own. */
export class Hub {
  private constructor(
    private readonly process: ChildProcess,
    readonly url: string,
    readonly token: string,
  ) {}

  /**
   * Start a hub. Its connection file is at an unusual path, so that raydap does not find it, as if the hub were on
   * another machine.
   */
  static async start(): Promise<Hub> {
    const { RAYDAP_TEST_PYTHON: python = '', RAYDAP_TEST_DASHBOARD: dashboard = '' } = process.env;
    const file = join(tmpdir(), 'elsewhere.json');
    const child = spawn(python, ['-m', 'raydap', 'serve', '--dashboard', dashboard, '--connection-file', file]);
    let output = '';
    return new Promise((resolve, reject) => {
      const read = (data: Buffer): void => {
        output += data.toString();
        const [, port] = /serving on 127\.0\.0\.1:(\d+)/.exec(output) ?? [];
        if (port !== undefined) {
          const { token } = JSON.parse(readFileSync(file, 'utf8')) as { token: string };
          resolve(new Hub(child, `ws://127.0.0.1:${port}/dap`, token));
        }
      };
      child.stdout.on('data', read);
      child.stderr.on('data', read);
      child.once('exit', () => {
        reject(new Error(`the hub ended:\n${output}`));
      });
    });
  }

  async end(): Promise<void> {
    if (this.process.exitCode === null) {
      this.process.kill();
      await once(this.process, 'exit');
    }
  }
}
