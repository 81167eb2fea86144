/** What VS Code's extension host runs instead of a user; host.drive.ts opens it and reads what it says. */

import { activation } from './activation';
import { configurations } from './configurations';
import { hub } from './hub';
import { programs } from './programs';

/** In this order: activation is looked at before anything activates. */
const TESTS = { ...activation, ...configurations, ...hub, ...programs };

/** VS Code's interface for tests (extensionTestsPath): it ends with code 0 unless this rejects. */
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
