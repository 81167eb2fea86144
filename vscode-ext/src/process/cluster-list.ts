/** A process that lists the clusters of this machine. */

import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

import type { Command } from './command';

/**
 * Pass on the addresses of the clusters, now and after each change. When the process has ended by itself, pass on an
 * empty list and then call `ended`. Return a function that ends the process; nothing is passed on after its call.
 */
export function listClusters(
  { command, args }: Command,
  cwd: string,
  changed: (addresses: readonly string[]) => void,
  ended: () => void,
): () => void {
  // The process ends with its standard input, so it cannot outlive the extension.
  const child = spawn(command, args, { cwd, stdio: ['pipe', 'pipe', 'ignore'] });
  let isWanted = true;
  // The event `close` follows.
  child.on('error', () => undefined);
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (isWanted) {
      changed(JSON.parse(line) as string[]);
    }
  });
  child.on('close', () => {
    if (isWanted) {
      changed([]);
      ended();
    }
  });
  return () => {
    isWanted = false;
    child.kill();
  };
}
