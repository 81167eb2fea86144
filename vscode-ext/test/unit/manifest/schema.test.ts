/** Tests: the arguments of launch.json in package.json match the manual. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import { OFFERED } from '../../../src/model/configuration';

interface Property {
  readonly type?: string | readonly string[];
  readonly markdownDescription?: string;
  readonly enum?: readonly string[];
  readonly enumDescriptions?: readonly string[];
  readonly default?: unknown;
}

interface Debugger {
  readonly type: string;
  readonly configurationAttributes: Readonly<
    Record<'attach' | 'launch', { readonly properties: Readonly<Record<string, Property>> }>
  >;
  readonly configurationSnippets: readonly { readonly body: Readonly<Record<string, unknown>> }[];
}

const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as {
  contributes: { debuggers: [Debugger]; commands: { command: string }[] };
};
const [ray] = manifest.contributes.debuggers;
const { attach, launch } = ray.configurationAttributes;
const manual = readFileSync('../docs/usage/arguments.md', 'utf8');

/** The arguments that only the extension has. It removes the hub's URL before raydap receives the configuration. */
const OF_THE_EXTENSION = ['hub'];
/**
 * The arguments that launch.json does not have. The extension keeps the token in the secret storage, and `join` is for
 * programs that join the session of an editor.
 */
const NOT_IN_A_FILE = ['token', 'join'];

/** Return the rows of the table below a heading of the manual: the type and the meaning, by name. */
function rows(heading: string): Map<string, { type: string; meaning: string }> {
  const [, section = ''] = manual.split(`\n## ${heading}\n`);
  const [own = ''] = section.split('\n## ');
  const found = own.matchAll(/^\| `(\w+)` \| ([^|]+) \| (.+) \|$/gm);
  return new Map(
    [...found].map(([, name = '', type = '', meaning = '']) => [name, { type: type.trim(), meaning }] as const),
  );
}

function documented(heading: string): string[] {
  return [...rows(heading).keys()].filter((name) => !NOT_IN_A_FILE.includes(name));
}

test('attach takes exactly the arguments of the manual', () => {
  assert.deepEqual(Object.keys(attach.properties).sort(), [...documented('attach'), ...OF_THE_EXTENSION].sort());
});

test('launch takes the arguments of attach and its own', () => {
  assert.deepEqual(
    Object.keys(launch.properties).sort(),
    [...documented('attach'), ...documented('launch'), ...OF_THE_EXTENSION].sort(),
  );
});

test('each argument has the type of the manual and a description', () => {
  const types: Readonly<Record<string, string | readonly string[]>> = {
    list: 'array',
    pattern: 'string',
    'list of strings': 'array',
    'string or list': ['string', 'array'],
    'list of strings, or a string': ['array', 'string'],
  };
  for (const [name, { type }] of [...rows('attach'), ...rows('launch')]) {
    const property = launch.properties[name];
    if (property !== undefined) {
      assert.deepEqual(property.type, types[type] ?? type.replace(/^list of .*/, 'array'), name);
      assert.ok((property.markdownDescription ?? '').endsWith('.'), name);
    }
  }
});

test('each choice is described, and the default is one of the choices', () => {
  const choices = Object.entries(launch.properties).filter(([, property]) => property.enum !== undefined);
  assert.deepEqual(choices.map(([name]) => name).sort(), ['console', 'reach', 'role', 'sessions']);
  for (const [name, property] of choices) {
    assert.equal(property.enumDescriptions?.length, property.enum?.length, name);
    assert.ok(property.enum?.includes(property.default as string), name);
    for (const choice of property.enum ?? []) {
      const row = rows('attach').get(name) ?? rows('launch').get(name);
      assert.ok(row?.meaning.includes(`"${choice}"`), `${name}: ${choice}`);
    }
  }
});

test('snippets and offered configurations contain only arguments of the schema', () => {
  const bodies = [...ray.configurationSnippets.map(({ body }) => body), ...OFFERED.map((offer) => offer.configuration)];
  for (const body of bodies) {
    const { type, request, name, ...rest } = body;
    assert.equal(type, ray.type);
    assert.ok(request === 'attach' || request === 'launch');
    assert.equal(typeof name, 'string');
    const { properties } = ray.configurationAttributes[request];
    assert.deepEqual(
      Object.keys(rest).filter((key) => !(key in properties)),
      [],
    );
  }
});
