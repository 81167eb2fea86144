// Plays a scenario with VS Code's own DAP client, asking what VS Code asks and in its order.
//
// Use: node player.js SCENARIO.json; what the file holds is said in tests/support/editors.py. Ends with code 0, or with
// the step that failed on stderr.
"use strict";

const assert = require("assert");
const fs = require("fs");
const { DebugClient } = require("@vscode/debugadapter-testsupport");

const PATIENCE = 30000; // Milliseconds for whatever is awaited.

// What VS Code 1.90 says of itself.
const VSCODE = {
  clientID: "vscode",
  clientName: "Visual Studio Code",
  adapterID: "debugpy",
  pathFormat: "path",
  linesStartAt1: true,
  columnsStartAt1: true,
  supportsVariableType: true,
  supportsVariablePaging: true,
  supportsRunInTerminalRequest: true,
  locale: "en",
  supportsProgressReporting: true,
  supportsInvalidatedEvent: true,
  supportsMemoryReferences: true,
  supportsArgsCanBeInterpretedByShell: true,
  supportsMemoryEvent: true,
  supportsStartDebuggingRequest: true,
  supportsANSIStyling: true,
};

// The client's own `dispatch` drops requests of the adapter silently; this one records them and refuses them.
class RecordingClient extends DebugClient {
  constructor(command, transcript) {
    super(command[0], command[1], "debugpy", undefined, true);
    this.transcript = transcript;
    this.messages = [];
    this.changed = () => {};
  }

  send(command, args) {
    this.record("client", { seq: this.sequence, type: "request", command, arguments: args });
    return super.send(command, args);
  }

  dispatch(body) {
    const message = JSON.parse(body);
    this.record("adapter", message);
    this.messages.push(message);
    if (message.type === "request") {
      this.refuse(message);
    } else {
      super.dispatch(body);
    }
    this.changed();
  }

  refuse(request) {
    const answer = { seq: this.sequence++, type: "response", request_seq: request.seq, command: request.command };
    const text = JSON.stringify({ ...answer, success: false, message: "not supported by this client" });
    this.outputStream.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
  }

  record(from, message) {
    fs.appendFileSync(this.transcript, JSON.stringify({ from, message }) + "\n");
  }

  // Waits until `find` finds something in what has been received so far.
  async until(what, find) {
    const deadline = Date.now() + PATIENCE;
    for (;;) {
      const found = find();
      if (found !== undefined) {
        return found;
      }
      await new Promise((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error(`${what} did not come`)), deadline - Date.now());
        this.changed = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  events(name) {
    return this.messages.filter((message) => message.event === name).map((message) => message.body);
  }
}

class Player {
  constructor(client) {
    this.client = client;
    this.seen = new Set(); // The `stopped` events that have been looked at.
    this.current = null; // The thread that the user looks at, and its frames.
    this.previous = null; // The same, before `switch`.
    this.lines = {}; // The breakpoints, by path.
    this.answers = []; // What setBreakpoints was answered.
  }

  async start({ request, arguments: args, breakpoints = {}, filters }) {
    const { body: capabilities } = await this.client.initializeRequest(VSCODE);
    const editors = { name: "Ray", type: "debugpy", request, __configurationTarget: 6, __sessionId: "a-b-c" };
    const started = this.client.send(request, { ...editors, ...args });
    started.catch(() => {}); // It is awaited below; until then its failure is no surprise.
    const initialized = () => this.client.messages.find((message) => message.event === "initialized");
    const failed = () => this.client.messages.find((message) => message.command === request);
    await this.client.until("initialized", () => initialized() || failed());
    if (!initialized()) {
      await started;
    }
    this.lines = breakpoints;
    for (const path of Object.keys(breakpoints)) {
      await this.sendBreakpoints(path);
    }
    await this.client.setFunctionBreakpointsRequest({ breakpoints: [] });
    const offered = capabilities.exceptionBreakpointFilters.filter((filter) => filter.default);
    const chosen = filters || offered.map((filter) => filter.filter);
    await this.client.setExceptionBreakpointsRequest({ filters: chosen });
    await this.client.configurationDoneRequest();
    const listed = this.client.threadsRequest();
    listed.catch(() => {}); // Nothing to list where nothing could be started.
    await started;
    await listed;
  }

  async refused(step) {
    await assert.rejects(this.start(step), (error) => error.message.includes(step.says));
  }

  async stop({ reason, same = false, ...at }) {
    const stop = await this.nextStop((body) => !same || body.threadId === this.current.threadId);
    if (reason !== undefined) {
      assert.strictEqual(stop.reason, reason);
    }
    await this.look(stop.threadId);
    this.check(at);
  }

  async switch(at) {
    this.previous = this.current;
    const stop = await this.nextStop((body) => body.threadId !== this.previous.threadId);
    await this.look(stop.threadId);
    this.check(at);
  }

  async back(at) {
    await this.look(this.previous.threadId);
    this.check(at);
  }

  async nextStop(fits) {
    const unseen = (body) => !this.seen.has(body) && fits(body);
    const stop = await this.client.until("stopped", () => this.client.events("stopped").find(unseen));
    this.seen.add(stop);
    return stop;
  }

  check({ path, line, stack = [] }) {
    const { frames } = this.current;
    assert.deepStrictEqual(frames.slice(0, stack.length).map((frame) => frame.name), stack);
    if (path !== undefined) {
      this.client.assertPath(frames[0].source.path, path);
    }
    if (line !== undefined) {
      assert.strictEqual(frames[0].line, line);
    }
  }

  // VS Code asks for the threads, then for the top frame alone, then for the frames below it, then for what it shows.
  async look(threadId) {
    const { threads } = (await this.client.threadsRequest()).body;
    assert(threads.some((thread) => thread.id === threadId), `thread ${threadId} is not listed`);
    const top = await this.client.stackTraceRequest({ threadId, startFrame: 0, levels: 1 });
    const rest = await this.client.stackTraceRequest({ threadId, startFrame: 1, levels: 19 });
    assert.strictEqual(top.body.stackFrames.length, 1);
    const frames = [...top.body.stackFrames, ...rest.body.stackFrames];
    const { scopes } = (await this.client.scopesRequest({ frameId: frames[0].id })).body;
    this.current = { threadId, frames, scopes };
  }

  async locals({ values }) {
    const { variablesReference } = this.current.scopes.find((scope) => !scope.expensive);
    const { variables } = (await this.client.variablesRequest({ variablesReference })).body;
    const found = Object.fromEntries(variables.map((variable) => [variable.name, variable.value]));
    for (const [name, value] of Object.entries(values)) {
      assert.strictEqual(found[name], value, name);
    }
  }

  async evaluate({ expression, result }) {
    assert.strictEqual(await this.ask(expression), result);
  }

  async ask(expression, context = "hover") {
    const frameId = this.current.frames[0].id;
    return (await this.client.evaluateRequest({ expression, frameId, context })).body.result;
  }

  async next() {
    await this.client.nextRequest({ threadId: this.current.threadId, granularity: "statement" });
  }

  async stepIn() {
    await this.client.stepInRequest({ threadId: this.current.threadId });
  }

  async stepOut() {
    await this.client.stepOutRequest({ threadId: this.current.threadId });
  }

  async continue() {
    const { body } = await this.client.continueRequest({ threadId: this.current.threadId });
    assert.strictEqual(body.allThreadsContinued, false);
  }

  async walk({ stops, expression, results }) {
    const found = [];
    for (let count = 0; count < stops; count += 1) {
      await this.stop({});
      found.push(await this.ask(expression, "watch"));
      await this.continue();
    }
    assert.deepStrictEqual(found.sort(), results);
  }

  async toggle({ path, line }) {
    const lines = this.lines[path] || [];
    this.lines[path] = lines.includes(line) ? lines.filter((other) => other !== line) : [...lines, line];
    await this.sendBreakpoints(path);
  }

  async sendBreakpoints(path) {
    const lines = this.lines[path];
    const breakpoints = lines.map((line) => ({ line }));
    const source = { name: path.split("/").pop(), path };
    const { body } = await this.client.setBreakpointsRequest({ source, lines, breakpoints, sourceModified: false });
    assert.strictEqual(body.breakpoints.length, lines.length);
    this.answers.push(...body.breakpoints);
  }

  async verified({ line }) {
    const known = () => [...this.answers, ...this.client.events("breakpoint").map((body) => body.breakpoint)];
    const verified = (breakpoint) => (breakpoint.verified && breakpoint.line === line) || undefined;
    await this.client.until(`breakpoint at ${line}`, () => known().find(verified));
  }

  async exception({ name, description }) {
    const { body } = await this.client.exceptionInfoRequest({ threadId: this.current.threadId });
    assert.deepStrictEqual([body.exceptionId, body.description], [name, description]);
  }

  async output({ category, text }) {
    const said = () => this.client.events("output").filter((body) => body.category === category);
    const whole = () => said().map((body) => body.output).join("");
    await this.client.until(`${category}: ${text}`, () => whole().includes(text) || undefined);
  }

  async exited({ code }) {
    assert.deepStrictEqual(await this.client.until("exited", () => this.client.events("exited")[0]), { exitCode: code });
    await this.client.until("terminated", () => this.client.events("terminated").length || undefined);
  }

  async disconnect() {
    await this.client.disconnectRequest({ restart: false, terminateDebuggee: false });
  }
}

function fail(text) {
  console.error(text);
  process.exit(1);
}

async function main(file) {
  const { command, port, transcript, steps } = JSON.parse(fs.readFileSync(file, "utf8"));
  const client = new RecordingClient(command || [], transcript);
  await client.start(command ? undefined : port);
  client._adapterProcess?.on("exit", () => fail("the adapter ended")); // Otherwise the client waits for ever.
  const player = new Player(client);
  for (const step of steps) {
    try {
      await player[step.do](step);
    } catch (error) {
      fail(`${JSON.stringify(step)} failed:\n${error.stack}`);
    }
  }
  client.stopAdapter();
  process.exit(0);
}

main(process.argv[2]);
