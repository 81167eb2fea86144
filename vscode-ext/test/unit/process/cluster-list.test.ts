import assert from 'node:assert/strict';
import { test } from 'node:test';

import { listClusters } from '../../../src/process/cluster-list';
import { clusterListCommand } from '../../../src/process/command';

/** Return the command of a process that runs this script, and the lists that it is followed by. */
function follow(script: string): { readonly lists: string[][]; readonly next: () => Promise<void>; end: () => void } {
  const lists: string[][] = [];
  let wake = (): void => undefined;
  const next = (): Promise<void> => new Promise((resolve) => (wake = resolve));
  const end = listClusters(
    { command: process.execPath, args: ['-e', script], env: {} },
    __dirname,
    (addresses) => {
      lists.push([...addresses]);
      wake();
    },
    () => {
      lists.push(['ended']);
      wake();
    },
  );
  return { lists, next, end };
}

test('the command lists the clusters of this machine', () => {
  assert.deepEqual(clusterListCommand('py').args, ['-m', 'raydap', 'status', '--follow']);
});

test('each line is a list, and the end of the process an empty one', async () => {
  const { lists, next } = follow(`console.log('["a:1"]'); console.log('[]'); console.log('["b:2"]')`);
  while (lists.length < 5) {
    await next();
  }
  assert.deepEqual(lists, [['a:1'], [], ['b:2'], [], ['ended']]);
});

test('nothing follows after the end', async () => {
  const { lists, next, end } = follow(`console.log('["a:1"]'); setInterval(() => console.log('[]'), 1)`);
  await next();
  end();
  const before = lists.length;
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(lists.length, before);
});

test('a program that does not exist lists nothing', async () => {
  const lists: string[][] = [];
  await new Promise<void>((resolve) => {
    listClusters(
      { command: '/no/such/python', args: [], env: {} },
      __dirname,
      (each) => lists.push([...each]),
      resolve,
    );
  });
  assert.deepEqual(lists, [[]]);
});
