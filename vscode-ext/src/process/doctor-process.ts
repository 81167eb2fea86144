/** A process that runs `raydap doctor`. */

import { execFile } from 'node:child_process';

import type { Finding } from '../text/finding-rows';
import type { Command } from './command';

/** The time limit. On a busy cluster, starting the actors on the nodes takes most of the time. */
const TIMEOUT_MS = 180_000;

/**
 * Run the command, and return its findings. Throw an Error with a sentence for the user if it prints none. The process
 * ends when `signal` is aborted.
 */
export function runDoctor({ command, args, env }: Command, cwd: string, signal: AbortSignal): Promise<Finding[]> {
  const options = { cwd, env: { ...process.env, ...env }, timeout: TIMEOUT_MS, maxBuffer: 64 << 20, signal };
  return new Promise((resolve, reject) => {
    execFile(command, [...args], options, (error, stdout, stderr) => {
      try {
        // The exit code is 1 if there is a warning or an error.
        resolve(JSON.parse(stdout) as Finding[]);
      } catch {
        const lines = [error?.message ?? 'it printed no findings', ...stderr.trim().split('\n')];
        const reason = lines.filter((line) => line !== '').at(-1) ?? '';
        reject(new Error(`raydap doctor failed: ${reason.replace(/\.$/, '')}.`));
      }
    });
  });
}
