/**
 * Plays drives one after another, so that they share a server and a browser. It reads their names from a FIFO, one a
 * line, until the FIFO is closed. After a drive that has failed, the next one gets a new server and browser.
 */

import { createReadStream } from 'node:fs';
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
  for await (const name of createInterface({ input: createReadStream(given('RAYDAP_TEST_DRIVES')) })) {
    await playNext(name);
  }
  await endPrograms();
}

void main();
