/** Tests: an old picture or stack does not replace a newer one. */

import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';

import type { Uri } from 'vscode';

import type { ClusterConnection } from '../../../src/model/cluster-connection';
import type { WorkerStack } from '../../../src/protocol/messages';
import { StackDocuments } from '../../../src/views/stack-documents';
import { StackPicture } from '../../../src/views/stack-picture';
import { settled } from '../fake-source';
import { panels, resetVscode, seen, Uri as FakeUri } from '../fake-vscode';

beforeEach(resetVscode);

test('the picture that was requested last is shown', async () => {
  const pending: ((answer: object) => void)[] = [];
  const connection = { request: () => new Promise((resolve) => void pending.push(resolve)) };
  const picture = new StackPicture(FakeUri.file('/extension') as unknown as Uri);
  for (const asked of [connection, connection]) {
    void picture.show(asked as unknown as ClusterConnection);
  }
  pending[1]?.({ export: '<svg>new</svg>' });
  await settled();
  pending[0]?.({ export: '<svg>old</svg>' });
  await settled();
  assert.match(panels[0]?.webview.html ?? '', /new/);
});

test('the stack that was requested last is shown, independently for each worker', async () => {
  const pending: ((text: string) => void)[] = [];
  const read = (): Promise<WorkerStack> =>
    new Promise((resolve) => void pending.push((text) => resolve({ name: text, text } as WorkerStack)));
  const documents = new StackDocuments();
  void documents.show('w1', read());
  void documents.show('w2', read());
  void documents.show('w1', read());
  pending[2]?.('new');
  pending[1]?.('other');
  pending[0]?.('old');
  await settled();
  assert.deepEqual(seen, ['document: /Stack of new', 'document: /Stack of other']);
  documents.dispose();
});
