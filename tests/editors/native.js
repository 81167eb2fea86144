// The assertions that VS Code's DAP client brings itself. Use: node native.js ARGUMENTS, a JSON object with `command` or
// `port` (the bridge), `attach`, `path` and `line` (a breakpoint to hit there) and `launch` (a program to run).
"use strict";

const assert = require("assert");
const { DebugClient } = require("@vscode/debugadapter-testsupport");

// The client's scenarios launch; ours attach to workers that wait.
class AttachingClient extends DebugClient {
  launchRequest(args) {
    return this.attachRequest(args);
  }
}

async function hitsBreakpoint(client, { attach, path, line }) {
  // The breakpoint is not verified yet: no worker is there when it is set.
  await client.hitBreakpoint(attach, { path, line, verified: false });
  const { threads } = (await client.threadsRequest()).body;
  assert.strictEqual(threads.length, 1);
  const next = { path, line: line + 1 };
  await Promise.all([
    client.nextRequest({ threadId: threads[0].id }),
    client.assertStoppedLocation("step", next),
    client.waitForEvent("continued"),
  ]);
}

async function runsProgram(client, { launch }) {
  const [, , , , exited] = await Promise.all([
    client.configurationSequence(),
    client.launch(launch),
    client.assertOutput("stdout", "to stdout\n"),
    client.assertOutput("stderr", "to stderr\n"),
    client.waitForEvent("exited"),
    client.waitForEvent("terminated"),
  ]);
  assert.strictEqual(exited.body.exitCode, 3);
}

async function main(text) {
  const { command = [], port, ...args } = JSON.parse(text);
  for (const [Client, check] of [[AttachingClient, hitsBreakpoint], [DebugClient, runsProgram]]) {
    const client = new Client(command[0], command[1], "debugpy");
    client.defaultTimeout = 30000;
    await client.start(port);
    await check(client, args);
    await client.stop();
    console.log(`${check.name}: passed`);
  }
}

main(process.argv[2]).then(() => process.exit(0), (error) => {
  console.error(error);
  process.exit(1);
});
