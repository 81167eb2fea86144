/**
 * A reader of the documentation site, without a network: from a server, and from a disk. The site is built by the Python
 * of the tests.
 */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

import type { Page } from 'playwright-core';

import { after, before, step } from './drive';
import { given, sharedBrowser } from './installation';

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css',
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
};
const WIDE = { width: 1280, height: 800 };
const NARROW = { width: 400, height: 800 };
/** The pages of which this test keeps pictures. */
const PICTURED = ['index', 'alternatives', 'limits', 'reference/commands', 'reference/vscode', 'reference/messages'];

let folder: string;
let site: string;
let server: Server;
let page: Page;
/** Requests to other hosts, files that are missing, and errors of scripts. */
const problems: string[] = [];

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'raydap-site-'));
  site = join(folder, 'site');
  await promisify(execFile)(given('RAYDAP_TEST_PYTHON'), ['-m', 'support.docs_site', '--out', site], {
    env: { ...process.env, PYTHONPATH: '../tests' },
  });
  server = createServer(({ url = '' }, response) => {
    const path = join(site, decodeURIComponent(new URL(url, 'http://site').pathname));
    if (!existsSync(path)) {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, { 'content-type': TYPES[extname(path)] ?? 'application/octet-stream' });
    createReadStream(path).pipe(response);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  page = await (await sharedBrowser()).newPage({ viewport: WIDE, reducedMotion: 'reduce' });
  page.setDefaultTimeout(30_000);
  page.on('pageerror', (error) => problems.push(`${page.url()}: ${error.message}`));
  page.on('response', (response) => {
    if (response.status() >= 400) problems.push(`${page.url()}: ${response.url()} is missing`);
  });
  await page.route(/^https?:/, async (route) => {
    const url = route.request().url();
    if (url.startsWith(address(''))) {
      await route.continue();
    } else {
      problems.push(`${page.url()}: requests ${url}`);
      await route.abort();
    }
  });
});

after(async () => {
  await page.context().close();
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

function address(path: string): string {
  return `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/${path}`;
}

async function screenshot(name: string): Promise<void> {
  const pictures = given('RAYDAP_TEST_SCREENSHOTS');
  mkdirSync(pictures, { recursive: true });
  await page.screenshot({ path: join(pictures, `site-${name.replaceAll('/', '-')}.png`) });
}

/** Search for a word on this page, and open the first result, whose address has to match. */
async function search(word: string, result: RegExp): Promise<void> {
  await page.keyboard.press('/');
  await page.getByPlaceholder('Search').fill(word);
  await page.getByText(/^\d+ results$/).waitFor();
  await screenshot(`search-${new URL(page.url()).protocol.slice(0, -1)}`);
  await page.keyboard.press('Enter');
  await page.waitForURL(result);
}

step('each page loads without a network, without an error, and fits into a narrow window', async () => {
  const pages = readdirSync(site, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.html'));
  assert.ok(pages.length > 60);
  await page.setViewportSize(NARROW);
  const wide: string[] = [];
  // The paths of 404.html begin with that of the published site.
  for (const name of pages.filter((each) => each !== '404.html')) {
    await page.goto(address(name), { waitUntil: 'domcontentloaded' });
    const excess = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    if (excess > 0) wide.push(`${name}: ${excess} pixels`);
  }
  assert.deepEqual(problems, []);
  assert.deepEqual(wide, []);
});

step('pages can be read in the light mode, in the dark mode, and in a narrow window', async () => {
  for (const name of PICTURED) {
    await page.goto(address(`${name}.html`));
    await screenshot(`${name}-narrow`);
    await page.setViewportSize(WIDE);
    await screenshot(`${name}-light`);
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.locator('body[data-md-color-scheme="slate"]').waitFor();
    await screenshot(`${name}-dark`);
    await page.emulateMedia({ colorScheme: 'light' });
    await page.locator('body[data-md-color-scheme="default"]').waitFor();
    await page.setViewportSize(NARROW);
  }
  await page.setViewportSize(WIDE);
});

step('the search of a served page finds a page', async () => {
  await page.goto(address('index.html'));
  await search('barrier', /\/usage\/barriers\.html/);
  assert.deepEqual(problems, []);
});

step('the search of a page from the disk finds a page, too', async () => {
  await page.goto(pathToFileURL(join(site, 'errors.html')).href);
  await search('barrier', /\/usage\/barriers\.html/);
  assert.deepEqual(problems, []);
});
