/**
 * The server and the browser of all drives: to start them costs more than most drives, and a window that is opened in
 * the same browser finds VS Code compiled. Prints how to reach them, and ends them upon SIGTERM.
 */

import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { given, startBrowser, startServer, writeUserSettings, type Shared } from './server';

async function main(): Promise<void> {
  const terminated = once(process, 'SIGTERM');
  const folder = mkdtempSync(join(tmpdir(), 'raydap-vscode-'));
  writeUserSettings(folder);
  const server = await startServer(folder, { vsix: given('RAYDAP_TEST_VSIX') });
  const browser = await startBrowser(join(folder, 'browser'));
  const shared: Shared = { url: server.url, folder, browser: browser.url };
  console.log(`shared: ${JSON.stringify(shared)}`);
  await terminated;
  await browser.end();
  await server.end();
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

void main();
