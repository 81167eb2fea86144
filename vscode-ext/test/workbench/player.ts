/**
 * Plays drives one after another, so that they share a server and a browser. It reads their names from a FIFO, one a
 * line, until the FIFO is closed. After a drive that has failed, the next one gets a new server and browser.
 */

import { constants, openSync } from 'node:fs';
import { Socket } from 'node:net';
import { createInterface } from 'node:readline';

import { play } from './drive';
import { endPrograms, given } from './installation';

/** Play the drive of this name. */
async function playNext(name: string): Promise<void> {
  console.log(`▶ ${name}`);
  const passed = await play(async () => import(`./${name}.drive.ts`));
  if (!passed) {
    await endPrograms();
  }
  // tests/support/vscode.py waits for this line.
  console.log(`■ ${name} has ${passed ? 'passed' : 'failed'}`);
}

async function main(): Promise<void> {
  // A blocking read would keep Node from ending after an error that no drive catches.
  const fd = openSync(given('RAYDAP_TEST_DRIVES'), constants.O_RDONLY | constants.O_NONBLOCK);
  for await (const name of createInterface({ input: new Socket({ fd, readable: true, writable: false }) })) {
    await playNext(name);
  }
  await endPrograms();
}

void main();
