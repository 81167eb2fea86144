// Bundles the extension and the scripts of its pages into dist, or with --tests each test into out. VS Code itself is never part of a bundle.
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { build } from 'esbuild';

const tests = process.argv.includes('--tests');
const here = import.meta.dirname;

/** The files below `folder` that are run by themselves. */
function entries(folder, ending) {
  return readdirSync(`${here}/test/${folder}`, { recursive: true })
    .filter((name) => name.endsWith(ending))
    .map((name) => ({ in: `${here}/test/${folder}/${name}`, out: `${folder}/${name.slice(0, -'.ts'.length)}` }));
}

/** The client of the language server. It is a bundle of its own, because loading it would be most of an activation. */
const LANGUAGE_CLIENT = 'vscode-languageclient/node';
const languageClientApart = {
  name: 'language-client-apart',
  setup({ onResolve }) {
    onResolve({ filter: new RegExp(`^${LANGUAGE_CLIENT}$`) }, ({ kind }) =>
      kind === 'entry-point' ? undefined : { path: './language-client.js', external: true },
    );
  },
};

/** Write the licences of the bundled packages into one file, as the licences demand. */
function writeNotices(inputs) {
  const folders = Object.keys(inputs).map((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0]);
  const notices = [...new Set(folders)].filter((folder) => folder !== undefined).map(noticeOf);
  writeFileSync(`${here}/dist/NOTICES.txt`, notices.sort().join('\n'));
}

function noticeOf(folder) {
  const { name, version, license } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'));
  const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
  if (file === undefined) {
    throw new Error(`${name} is bundled, but has no file with its licence`);
  }
  return `${name} ${version} (${license})\n\n${readFileSync(`${folder}/${file}`, 'utf8')}\n`;
}

/**
 * Let each module use VS Code's API itself. For `import *` esbuild would copy the API into an object for each module,
 * which takes half of the time of an activation.
 */
const vscodeAsIs = {
  name: 'vscode as is',
  setup: (build) => {
    build.onLoad({ filter: /\/src\/.*\.ts$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8');
      return {
        contents: text.replace("import * as vscode from 'vscode';", "const vscode = require('vscode');"),
        loader: 'ts',
      };
    });
  },
};

const options = {
  outdir: tests ? `${here}/out` : `${here}/dist`,
  bundle: true,
  platform: 'node',
  format: 'cjs',
  target: 'node20',
  external: ['vscode', 'playwright-core'],
  minify: !tests,
  sourcemap: tests ? 'inline' : false,
  logLevel: 'warning',
};

if (tests) {
  await build({ ...options, entryPoints: [...entries('workbench', 'player.ts'), ...entries('host', 'index.ts')] });
  // Plain Node runs the unit tests, so they get a VS Code of their own.
  const logOverride = { 'import-is-undefined': 'silent' };
  const alias = { vscode: `${here}/test/unit/fake-vscode.ts` };
  await build({ ...options, entryPoints: entries('unit', '.test.ts'), external: [], alias, logOverride });
} else {
  const { metafile } = await build({
    ...options,
    entryPoints: [
      { in: `${here}/src/extension.ts`, out: 'extension' },
      { in: LANGUAGE_CLIENT, out: 'language-client' },
    ],
    plugins: [languageClientApart, vscodeAsIs],
    // Keep `require`, which finds the names that a minified bundle exports.
    supported: { 'dynamic-import': false },
    metafile: true,
  });
  writeNotices(metafile.inputs);
  await build({
    entryPoints: readdirSync(`${here}/src/pages`).map((name) => `${here}/src/pages/${name}`),
    outdir: `${here}/dist/pages`,
    bundle: true,
    platform: 'browser',
    format: 'iife',
    target: 'es2022',
    minify: true,
    logLevel: 'warning',
  });
  // What "Open Example Project" copies: the demo of the documentation, and what VS Code knows the project by.
  cpSync(`${here}/../docs/examples/trainer.py`, `${here}/dist/example/trainer.py`);
  cpSync(`${here}/walkthrough/raydap-example.md`, `${here}/dist/example/raydap-example.md`);
}
