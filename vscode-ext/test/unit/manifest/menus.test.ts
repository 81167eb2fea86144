/** Tests: the commands that package.json offers for each row of the Ray view and of the Stacks view. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

interface Item {
  readonly command: string;
  readonly when?: string;
  readonly group?: string;
}

const { contributes } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  contributes: {
    commands: readonly { readonly command: string; readonly icon?: string; readonly enablement?: string }[];
    keybindings: readonly { readonly command: string; readonly key: string; readonly when?: string }[];
    menus: Readonly<Record<string, readonly Item[]>>;
  };
};

/** Return the buttons of a row with this context value, in order. */
function buttons(context: string): string[] {
  return (contributes.menus['view/item/context'] ?? [])
    .filter(({ group }) => group?.startsWith('inline') === true)
    .filter(({ when = '' }) => matches(when, context))
    .sort((one, other) => (one.group ?? '').localeCompare(other.group ?? ''))
    .map(({ command }) => command.replace('raydap.', ''));
}

function matches(when: string, context: string): boolean {
  const pattern = /^view == raydap\.(?:clusters|stacks|doctor) && viewItem =~ \/(.*)\/$/.exec(when)?.[1];
  assert.ok(pattern !== undefined, when);
  return new RegExp(pattern).test(context);
}

test('each command in a menu exists', () => {
  const known = new Set(contributes.commands.map(({ command }) => command));
  const named = Object.values(contributes.menus).flatMap((items) => items.map(({ command }) => command));
  assert.deepEqual(
    named.filter((command) => command.startsWith('raydap.') && !known.has(command)),
    [],
  );
});

test('each row has the buttons of the actions that apply to it', () => {
  const expected: Readonly<Record<string, string[]>> = {
    'raydap.cluster.saved.connecting': ['debugCluster'],
    'raydap.cluster.saved.watching': ['debugCluster'],
    'raydap.cluster.saved.watching.continue': ['debugCluster'],
    'raydap.cluster.saved.failed': ['debugCluster', 'reconnectCluster'],
    'raydap.cluster.saved.session': [],
    'raydap.cluster.saved.session.continue': ['continueWorkers'],
    'raydap.cluster.local.idle': ['debugCluster', 'saveCluster'],
    'raydap.cluster.local.failed': ['debugCluster', 'reconnectCluster', 'saveCluster'],
    'raydap.cluster.local.session': [],
    'raydap.cluster.temporary.session.continue.attach': ['continueWorkers'],
    'raydap.problem': ['reconnectCluster'],
    'raydap.job.attach': ['attachWorkers'],
    'raydap.actor.continue.attach.session': ['continueWorkers', 'attachWorkers'],
    // A hub has stopped the workers for another client.
    'raydap.task.continue': [],
    'raydap.worker.paused': ['attachWorkers'],
    'raydap.worker.held.session': ['pauseWorkers'],
    'raydap.stack.stopped': ['continueStack', 'stepStack', 'compareStack'],
    'raydap.stack.running': [],
    'raydap.worker.alive': [],
    'raydap.finding': [],
    'raydap.finding.terminal': ['applyFix', 'copyFix'],
    'raydap.finding.copy': ['copyFix'],
    'raydap.worker.alive.agent': ['attachWorkers'],
    'raydap.worker.alive.agent.session': ['attachWorkers'],
    'raydap.idle': [],
    'raydap.worker.stopped': [],
    'raydap.worker.stopped.session': ['continueWorkers', 'goToSource'],
    'raydap.worker.running.session': ['pauseWorkers'],
    'raydap.worker.gone.session': [],
  };
  for (const [context, commands] of Object.entries(expected)) {
    assert.deepEqual(buttons(context), commands, context);
  }
});

test('buttons of rows are icons; buttons of the debug toolbar have no icon, so that VS Code shows their titles', () => {
  const withIcon = new Set(contributes.commands.filter(({ icon }) => icon !== undefined).map(({ command }) => command));
  const inline = (contributes.menus['view/item/context'] ?? []).filter(({ group }) => group?.startsWith('inline'));
  assert.deepEqual(
    inline.filter(({ command }) => !withIcon.has(command)),
    [],
  );
  const toolbar = (contributes.menus['debug/toolBar'] ?? []).map(({ command }) => command);
  assert.deepEqual(toolbar, ['raydap.continueAll', 'raydap.stepTogether', 'raydap.evaluateAll']);
  assert.deepEqual(
    toolbar.filter((command) => withIcon.has(command)),
    [],
  );
});

test('each key combination is bound once, to a command that exists, under the condition of that command', () => {
  const conditions = new Map(contributes.commands.map(({ command, enablement }) => [command, enablement]));
  for (const { command, when } of contributes.keybindings) {
    assert.ok(conditions.has(command), command);
    assert.equal(when, conditions.get(command), command);
  }
  const keys = contributes.keybindings.map(({ key }) => key);
  assert.equal(new Set(keys).size, keys.length);
});

test('each command on workers can be called from the palette and by keys', () => {
  const hidden = (contributes.menus.commandPalette ?? []).filter(({ when }) => when === 'false');
  const bound = contributes.keybindings.map(({ command }) => command);
  for (const name of [
    'continueWorkers',
    'continueGroup',
    'continueAll',
    'attachWorkers',
    'pauseWorkers',
    'showStack',
  ]) {
    assert.ok(!hidden.some(({ command }) => command === `raydap.${name}`), name);
    assert.ok(bound.includes(`raydap.${name}`), name);
  }
});
