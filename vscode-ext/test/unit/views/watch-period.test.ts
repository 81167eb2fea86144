/** Tests: when the saved clusters are watched. Each watched cluster takes a process. */

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { WatchPeriod } from '../../../src/views/watch-period';
import { EventEmitter, events, window } from '../fake-vscode';

interface Fixture {
  readonly calls: string[];
  readonly change: (state: { visible?: boolean; focused?: boolean }) => void;
  /** Let ten minutes pass. */
  readonly wait: () => void;
}

function begin(): Fixture {
  const visibility = new EventEmitter();
  const view = { visible: false, onDidChangeVisibility: visibility.event };
  const calls: string[] = [];
  const registry = { watch: () => calls.push('watch'), rest: () => calls.push('rest') };
  let timer: (() => void) | undefined;
  const timers = { set: (run: () => void) => (timer = run), clear: () => (timer = undefined) };
  new WatchPeriod(view, [registry], timers);
  return {
    calls,
    change: ({ visible = view.visible, focused = window.state.focused }) => {
      view.visible = visible;
      window.state.focused = focused;
      events.windowState.fire(undefined);
    },
    wait: () => timer?.(),
  };
}

test('watching begins when the view is shown, and ends ten minutes after the user has left the window', () => {
  const { calls, change, wait } = begin();
  assert.deepEqual(calls, []);
  change({ visible: true });
  change({ visible: false });
  wait();
  change({ focused: false });
  change({ focused: true });
  wait();
  assert.deepEqual(calls, ['watch']);
  change({ focused: false });
  wait();
  assert.deepEqual(calls, ['watch', 'rest']);
  change({ focused: true });
  change({ focused: true });
  assert.deepEqual(calls, ['watch', 'rest', 'watch']);
});

test('a visible view keeps its watchers while another window has the focus', () => {
  const { calls, change, wait } = begin();
  change({ visible: true, focused: false });
  wait();
  assert.deepEqual(calls, ['watch']);
  change({ focused: true });
});
