/** The tests that VS Code's extension host runs. host.drive.ts starts them and prints their output. */

import { activation } from './activation';
import { configurations } from './configurations';
import { hub } from './hub';
import { programs } from './programs';

/** The tests in their order: those of activation come first, before any other test activates the extension. */
const TESTS = { ...activation, ...configurations, ...hub, ...programs };

/** Run all tests. VS Code calls this (extensionTestsPath), and exits with code 0 unless it rejects. */
export async function run(): Promise<void> {
  const failed: string[] = [];
  for (const [name, body] of Object.entries(TESTS)) {
    const began = Date.now();
    try {
      await body();
      console.log(`✔ ${name} (${Date.now() - began} ms)`);
    } catch (error) {
      failed.push(name);
      console.log(`✖ ${name}\n${error instanceof Error ? error.stack : String(error)}`);
    }
  }
  if (failed.length > 0) {
    throw new Error(`failed: ${failed.join(', ')}`);
  }
}
