/** Finds the Python that runs the bridge, and what keeps it from doing so. */

import { execFile, type ExecFileException } from 'node:child_process';

export const OLDEST_PYTHON = [3, 10] as const;

/** What there is to know of one interpreter. `reason` says why it, or raydap in it, cannot be run at all. */
export type Finding =
  | { readonly kind: 'ready' | 'lacksRaydap' | 'tooOld'; readonly python: string; readonly version: string }
  | { readonly kind: 'brokenRaydap'; readonly python: string; readonly version: string; readonly reason: string }
  | { readonly kind: 'broken'; readonly python: string; readonly reason: string };

export type Probe = (python: string) => Promise<Finding>;

/** Where to look: the setting, else the interpreter that is selected in the editor, else the PATH. */
export interface Wishes {
  readonly setting?: string | undefined;
  readonly active?: string | undefined;
}

const ON_PATH = ['python3', 'python'];

/** An interpreter that does not answer by then, such as one on a dead network drive, counts as broken. */
const PATIENCE_MS = 30_000;

/** Runs on any Python, 2.7 included, because it has to tell which one it is. */
const QUESTION = `
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
 * The interpreter to use. A wish is never replaced by another Python, since that one would have other packages; of those
 * on the PATH the first that is ready is taken, else the first that runs, whose defect can then be named.
 */
export async function find(wishes: Wishes, probe: Probe = probeInterpreter): Promise<Finding> {
  const wish = wishes.setting?.trim() ?? '';
  const wanted = wish === '' ? wishes.active : wish;
  if (wanted !== undefined) {
    return probe(wanted);
  }
  const findings: Finding[] = [];
  for (const python of ON_PATH) {
    const finding = await probe(python);
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

/** Asks an interpreter for its version and for raydap. It is run outside the workspace, whose files it would import. */
export async function probeInterpreter(python: string): Promise<Finding> {
  const answer = await ask(python);
  if (typeof answer === 'string') {
    return { kind: 'broken', python, reason: answer };
  }
  const told = { python, version: answer.version.join('.') };
  if (isOlder(answer.version)) {
    return { kind: 'tooOld', ...told };
  }
  switch (answer.raydap) {
    case 'ready':
      return { kind: 'ready', ...told };
    case 'absent':
      return { kind: 'lacksRaydap', ...told };
    case 'broken':
      return { kind: 'brokenRaydap', ...told, reason: answer.reason };
  }
}

function isOlder([major = 0, minor = 0]: readonly number[]): boolean {
  const [oldestMajor, oldestMinor] = OLDEST_PYTHON;
  return major < oldestMajor || (major === oldestMajor && minor < oldestMinor);
}

/** The reason, as a string, if there is no answer. */
function ask(python: string): Promise<Answer | string> {
  return new Promise((resolve) => {
    execFile(python, ['-c', QUESTION], { cwd: __dirname, timeout: PATIENCE_MS }, (error, stdout, stderr) => {
      resolve(error === null ? read(stdout) : reasonOf(error, stderr));
    });
  });
}

/** A site hook may print before us; the answer is the last line. */
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
    return `it did not answer within ${PATIENCE_MS / 1000} seconds`;
  }
  return lastLine(stderr) || error.message;
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1) ?? '';
}
