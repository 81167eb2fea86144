/** The search for a Python interpreter that can run raydap. */

import { execFile, type ExecFileException } from 'node:child_process';

import { OLDEST_PYTHON, type InterpreterFinding } from '../model/interpreter-finding';

/** A function that checks one interpreter. */
export type Probe = (python: string) => Promise<InterpreterFinding>;

/** The interpreters that the user has chosen. */
export interface Chosen {
  /** The interpreter in the settings. It takes precedence. */
  readonly setting?: string | undefined;
  /** The interpreter that the Python extension has selected. */
  readonly active?: string | undefined;
}

/** The names that are searched for on the PATH, in this order. */
const ON_PATH = ['python3', 'python'];

/** The time limit of a check. An interpreter may never answer, for example on a dead network drive. */
const PROBE_TIMEOUT_MS = 30_000;

/** The script that checks an interpreter. It runs on any Python, even 2.7, because it reports the version. */
const PROBE_SCRIPT = `
import json, sys
state, reason, installer = "absent", "", None
if sys.version_info >= (3, 10):
    import importlib.util, shutil
    if not importlib.util.find_spec("pip") and shutil.which("uv"):
        installer = "uv"
    if importlib.util.find_spec("raydap"):
        state = "ready"
        try:
            import raydap.cli.adapter
        except BaseException as error:
            state, reason = "broken", str(error) or type(error).__name__
print(json.dumps({"version": list(sys.version_info[:3]), "raydap": state, "reason": reason, "installer": installer}))
`;

/** The output of the script. */
interface Answer {
  readonly version: number[];
  readonly raydap: 'ready' | 'absent' | 'broken';
  readonly reason: string;
  readonly installer?: 'uv' | null;
}

/**
 * Check the chosen interpreter and no other one, because another one has other packages. If none is chosen, return the
 * first interpreter on the PATH that is ready, else the first that runs, so that the user learns what is wrong with it.
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
      python: ON_PATH.join(' or '),
      reason: 'no working Python is on the PATH',
    }
  );
}

/**
 * Check an interpreter for its version and for raydap. It runs outside the workspace, because Python imports files from
 * its working directory.
 */
export async function probeInterpreter(python: string): Promise<InterpreterFinding> {
  const answer = await ask(python);
  if (typeof answer === 'string') {
    return { kind: 'broken', python, reason: answer };
  }
  const known = { python, version: answer.version.join('.') };
  if (isOlder(answer.version)) {
    return { kind: 'tooOld', ...known };
  }
  const installer = answer.installer === 'uv' ? { installer: answer.installer } : {};
  switch (answer.raydap) {
    case 'ready':
      return { kind: 'ready', ...known };
    case 'absent':
      return { kind: 'lacksRaydap', ...known, ...installer };
    case 'broken':
      return { kind: 'brokenRaydap', ...known, reason: answer.reason, ...installer };
  }
}

function isOlder([major = 0, minor = 0]: readonly number[]): boolean {
  const [oldestMajor, oldestMinor] = OLDEST_PYTHON;
  return major < oldestMajor || (major === oldestMajor && minor < oldestMinor);
}

/** Run the script. Return its output, or as a string the reason why there is none. */
function ask(python: string): Promise<Answer | string> {
  return new Promise((resolve) =>
    execFile(python, ['-c', PROBE_SCRIPT], { cwd: __dirname, timeout: PROBE_TIMEOUT_MS }, (error, stdout, stderr) =>
      resolve(error === null ? read(stdout) : reasonOf(error, stderr)),
    ),
  );
}

/** Parse the last line of the output. A site hook may print lines before it. */
function read(stdout: string): Answer | string {
  try {
    return JSON.parse(lastLine(stdout)) as Answer;
  } catch {
    return 'its output is not that of a Python interpreter';
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
