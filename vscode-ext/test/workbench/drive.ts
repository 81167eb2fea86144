/** A drive: steps in one window, each of which depends on those before it. player.ts plays it. */

type Body = () => Promise<void>;

interface Step {
  readonly name: string;
  readonly body: Body;
}

/** What a module of the form NAME.drive.ts declares when it is loaded. */
interface Drive {
  before: Body;
  after: Body;
  readonly steps: Step[];
}

let declared: Drive | undefined;

function current(): Drive {
  if (declared === undefined) {
    throw new Error('no drive is being loaded');
  }
  return declared;
}

/** Declare what happens before the first step of the drive. */
export function before(body: Body): void {
  current().before = body;
}

/** Declare what happens after the last step, even if the drive has failed. */
export function after(body: Body): void {
  current().after = body;
}

/** Declare the next step. */
export function step(name: string, body: Body): void {
  current().steps.push({ name, body });
}

/**
 * Load a drive by `load`, and play it. Print each step with its time and its error. Return whether all steps have
 * passed; after the first failure, only `after` runs.
 */
export async function play(load: () => Promise<unknown>): Promise<boolean> {
  const nothing = async (): Promise<void> => Promise.resolve();
  const drive: Drive = { before: nothing, after: nothing, steps: [] };
  declared = drive;
  await load();
  declared = undefined;
  if (drive.steps.length === 0) {
    throw new Error('no step was declared: a process plays each drive once');
  }
  let passed = true;
  for (const { name, body } of [{ name: 'before the first step', body: drive.before }, ...drive.steps]) {
    passed = passed && (await succeeds(name, body));
  }
  return (await succeeds('after the last step', drive.after)) && passed;
}

async function succeeds(name: string, body: Body): Promise<boolean> {
  const began = performance.now();
  const time = (): string => `(${Math.round(performance.now() - began)} ms)`;
  try {
    await body();
    console.log(`✔ ${name} ${time()}`);
    return true;
  } catch (error) {
    console.log(`✖ ${name} ${time()}\n${error instanceof Error ? error.stack : String(error)}`);
    return false;
  }
}
