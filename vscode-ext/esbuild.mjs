// Bundles the extension and the scripts of its pages into dist, or with --tests each test into out. VS Code itself is never part of a bundle.
import { cpSync, readdirSync } from 'node:fs';
import { build } from 'esbuild';

const tests = process.argv.includes('--tests');
const here = import.meta.dirname;

/** The files below `folder` that are run by themselves. */
function entries(folder, ending) {
  return readdirSync(`${here}/test/${folder}`, { recursive: true })
    .filter((name) => name.endsWith(ending))
    .map((name) => ({ in: `${here}/test/${folder}/${name}`, out: `${folder}/${name.slice(0, -'.ts'.length)}` }));
}

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
  await build({ ...options, entryPoints: [{ in: `${here}/src/extension.ts`, out: 'extension' }] });
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
