/** A user of the Ray view who debugs through a hub and detaches single workers. */

import assert from 'node:assert/strict';

import { Hub } from '../hub';
import { Job } from './job';
import { PAUSED, RayView, STOPPED } from './view';
import { after, before, step } from './drive';
import { given } from './installation';
import { Workbench } from './workbench';

let workbench: Workbench;
let view: RayView;
let hub: Hub | undefined;
let job: Job | undefined;

before(async () => {
  workbench = await Workbench.start({
    vsix: given('RAYDAP_TEST_VSIX'),
    settings: { 'raydap.python': given('RAYDAP_TEST_PYTHON') },
  });
  view = new RayView(workbench);
  hub = await Hub.start();
  await workbench.openAt('train.py');
  await view.icon().click();
  await workbench.widenSideBar();
});

after(async () => {
  await workbench.end('view-more-end');
  job?.end();
  await hub?.end();
});

step('a hub that wants a token is repaired by a button', async () => {
  assert.ok(hub !== undefined);
  await view.add(hub.url);
  await view.cluster('not connected').waitFor();
  await workbench.screenshot('30-hub-refuses');
  await view.row(/\[raydap \d+\]/).click();
  const message = workbench.message(/\[raydap \d+\]/);
  await message.getByText('Enter the token').click();
  await view.answer('Token of the hub', hub.token);
  await view.cluster('no worker is paused').waitFor();
});

step('it is renamed', async () => {
  await view.menu(view.cluster(), 'Rename Cluster', () => view.answer('Rename Cluster', 'Big one'));
  await view.cluster('Big one').waitFor();
});

step('who is paused there is seen', async () => {
  job = Job.start(`${workbench.project}/train.py`);
  await view.cluster('3 paused').waitFor();
  await view.trainer(PAUSED).nth(2).waitFor();
  await workbench.screenshot('31-hub-watched');
});

step('it is debugged', async () => {
  await view.press(view.cluster(), 'Debug This Cluster', () => view.status('Ray: 3 stopped'));
});

step('the hub keeps its workers when the session ends, and they are seen', async () => {
  await view.stopDebugging();
  await view.show();
  await view.cluster('3 stopped').waitFor();
  await view.trainer(STOPPED).nth(2).waitFor();
  await workbench.screenshot('32-hub-kept');
});

step('coming back finds them', async () => {
  await view.press(view.cluster(), 'Debug This Cluster', () => view.status('Ray: 3 stopped'));
  await view.show();
});

step('a worker that is let go is paused at its next breakpoint, and attached again', async () => {
  const target = view.trainer(STOPPED).first();
  const pid = await view.pid(target);
  await view.menu(target, 'Detach', () => view.status('Ray: 2 stopped, 1 paused'));
  assert.equal(await view.pid(view.trainer(PAUSED)), pid);
  await workbench.screenshot('33-detached');
  await view.press(view.trainer(PAUSED), 'Attach', () => view.status('Ray: 3 stopped'));
});

step('two selected rows are continued together', async () => {
  // The rows are sorted again with the counts above them.
  await view.cluster('3 stopped').waitFor();
  const rows = view.trainer(STOPPED);
  await rows.first().click();
  await rows.nth(1).click({ modifiers: ['Control'] });
  await workbench.screenshot('34-selected');
  // The worker that was detached before is in its last round, so it does not stop again.
  await view.menu(rows.nth(1), 'Continue', () => view.status('Ray: 2 stopped, 1 running'));
});

step('a group is continued, again and again, and the job ends', async () => {
  assert.ok(job !== undefined);
  await view.row(/^Trainer$/).click();
  await workbench.runCommand('Raydap: Continue Group');
  await workbench.page.locator('.quick-input-list', { hasText: 'Continue 2 Trainers' }).waitFor();
  await workbench.page.keyboard.press('Enter');
  await view.status('Ray: 1 stopped, 2 running');
  await workbench.runCommand('Raydap: Continue Group');
  assert.equal(await job.result(), '[1, 21, 41]');
});

step('a task that fails is stopped where it failed, with the type of its error', async () => {
  job = Job.start('../docs/examples/post_mortem.py');
  for (const error of [/first.*IndexError/, /Shop( \d)? · price.*KeyError/]) {
    await view.row(error).waitFor();
    await workbench.screenshot('35-post-mortem');
    await view.press(view.row(error), 'Continue', () => view.row(error).waitFor({ state: 'hidden' }));
  }
  assert.equal(await job.result(), "['IndexError', 'KeyError']");
});

step('it is removed', async () => {
  await view.stopDebugging();
  await view.show();
  await view.menu(view.cluster(), 'Remove Cluster', () => workbench.page.getByText('Add a Ray cluster').waitFor());
});

step('the cluster of this machine is listed by itself, opened and hidden', async () => {
  workbench.changeSettings({ 'raydap.listLocalClusters': true });
  const name = new URL(given('RAYDAP_TEST_DASHBOARD')).host;
  await view.cluster(name).getByText('runs on this machine').waitFor();
  await workbench.screenshot('36-local-cluster');
  await view.cluster(name).click();
  await view.cluster(name).getByText('no worker is paused').waitFor();
  await workbench.screenshot('36-local-cluster-open');
  await view.menu(view.cluster(name), 'Hide Cluster', () => view.cluster(name).waitFor({ state: 'hidden' }));
});
