/** Finds the Python that runs raydap, or says why there is none. */

import { execFile, type ExecFileException } from 'node:child_process';

import { OLDEST_PYTHON, type InterpreterFinding } from '../model/interpreter-finding';

export type Probe = (python: string) => Promise<InterpreterFinding>;

/** The setting comes before the interpreter that is selected in the editor. */
export interface Chosen {
  readonly setting?: string | undefined;
  readonly active?: string | undefined;
}

const ON_PATH = ['python3', 'python'];

/** An interpreter may never answer, such as one on a dead network drive. */
const PROBE_TIMEOUT_MS = 30_000;

/** Runs on any Python, 2.7 included, because it has to say which version that is. */
const PROBE_SCRIPT = `
import json, sys
state, reason = "absent", ""
if sys.version_info >= (3, 10):
    import importlib.util
    if importlib.util.find_spec("raydap"):
        state = "ready"
        try:
            import raydap.cli.adapter
        except BaseException as error:
            state, reason = "broken", str(error) or type(error).__name__
print(json.dumps({"version": list(sys.version_info[:3]), "raydap": state, "reason": reason}))
`;

interface Answer {
  readonly version: number[];
  readonly raydap: 'ready' | 'absent' | 'broken';
  readonly reason: string;
}

/**
 * Probes the chosen interpreter and no other one, since another one has other packages. If none is chosen, takes the first
 * one on the PATH that is ready, else the first one that runs, so that the user learns what is wrong with it.
 */
export async function findInterpreter(chosen: Chosen, probe: Probe = probeInterpreter): Promise<InterpreterFinding> {
  const setting = chosen.setting?.trim() ?? '';
  const python = setting === '' ? chosen.active : setting;
  if (python !== undefined) {
    return probe(python);
  }
  const findings: InterpreterFinding[] = [];
  for (const name of ON_PATH) {
    const finding = await probe(name);
    if (finding.kind === 'ready') {
      return finding;
    }
    findings.push(finding);
  }
  return (
    findings.find((finding) => finding.kind !== 'broken') ?? {
      kind: 'broken',
      python: ON_PATH.join(', '),
      reason: 'there is no Python on the PATH',
    }
  );
}

/** Asks an interpreter for its version and for raydap. It runs outside the workspace, whose files it would import. */
export async function probeInterpreter(python: string): Promise<InterpreterFinding> {
  const answer = await ask(python);
  if (typeof answer === 'string') {
    return { kind: 'broken', python, reason: answer };
  }
  const known = { python, version: answer.version.join('.') };
  if (isOlder(answer.version)) {
    return { kind: 'tooOld', ...known };
  }
  switch (answer.raydap) {
    case 'ready':
      return { kind: 'ready', ...known };
    case 'absent':
      return { kind: 'lacksRaydap', ...known };
    case 'broken':
      return { kind: 'brokenRaydap', ...known, reason: answer.reason };
  }
}

function isOlder([major = 0, minor = 0]: readonly number[]): boolean {
  const [oldestMajor, oldestMinor] = OLDEST_PYTHON;
  return major < oldestMajor || (major === oldestMajor && minor < oldestMinor);
}

/** The reason, as a string, if there is no answer. */
function ask(python: string): Promise<Answer | string> {
  return new Promise((resolve) =>
    execFile(python, ['-c', PROBE_SCRIPT], { cwd: __dirname, timeout: PROBE_TIMEOUT_MS }, (error, stdout, stderr) =>
      resolve(error === null ? read(stdout) : reasonOf(error, stderr)),
    ),
  );
}

/** The answer is the last line: a site hook may print something before it. */
function read(stdout: string): Answer | string {
  try {
    return JSON.parse(lastLine(stdout)) as Answer;
  } catch {
    return 'it does not answer like a Python';
  }
}

function reasonOf(error: ExecFileException, stderr: string): string {
  if (error.code === 'ENOENT') {
    return 'it does not exist';
  }
  if (error.code === 'EACCES') {
    return 'it is not an executable file';
  }
  if (error.killed === true) {
    return `it did not answer within ${PROBE_TIMEOUT_MS / 1000} seconds`;
  }
  return lastLine(stderr) || error.message;
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1) ?? '';
}
