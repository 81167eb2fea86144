import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { DebugSession } from 'vscode';

import { StepRequests } from '../../../src/debug/step-requests';

test('cancelling sends the ids of the pending step requests', async () => {
  const sent: unknown[] = [];
  const customRequest = (command: string, args: object): Promise<void> =>
    Promise.resolve(void sent.push([command, args]));
  const steps = new StepRequests();
  const tracker = steps.createDebugAdapterTracker({ id: 'one', customRequest } as unknown as DebugSession);
  const request = { type: 'request', command: 'raydap/step' };
  tracker.onWillReceiveMessage?.({ ...request, seq: 5, arguments: { until: 'parted' } });
  tracker.onWillReceiveMessage?.({ ...request, seq: 6, arguments: { until: 'parted' } });
  tracker.onWillReceiveMessage?.({ ...request, seq: 7, arguments: { timeout: 5 } });
  tracker.onDidSendMessage?.({ type: 'response', request_seq: 5, success: true });
  await steps.cancel('one');
  await steps.cancel('another');
  assert.deepEqual(sent, [['cancel', { requestId: 6 }]]);
  tracker.onWillStopSession?.();
  await steps.cancel('one');
  assert.equal(sent.length, 1);
});
