/** The rows of the Doctor view: the findings of `raydap doctor`, each with its reason and its fix. */

import type { Row } from './row';

/** A finding, as `raydap doctor --json` prints it (docs/usage/doctor.md). */
export interface Finding {
  readonly check: string;
  readonly severity: 'ok' | 'note' | 'warning' | 'error' | 'skipped';
  readonly what: string;
  readonly why: string;
  /** A text to paste; empty if there is nothing to do. */
  readonly what_to_do: string;
  /** A worker, a node, a job, a breakpoint such as `train.py:5`, or empty. */
  readonly subject: string;
}

/** A breakpoint of VS Code. The line is counted from 1. */
export interface Place {
  readonly path: string;
  readonly line: number;
}

/** The part of VS Code in which the user can apply a fix; undefined for a text that can only be copied. */
export type FixPlace = 'terminal' | 'configuration' | 'address' | 'token';

export interface FindingRow extends Row<FindingRow> {
  /** The text to paste; empty if there is nothing to do. */
  readonly fix: string;
  readonly fixPlace: FixPlace | undefined;
}

const ICONS: Readonly<Record<Finding['severity'], string>> = {
  error: 'error',
  warning: 'warning',
  note: 'info',
  ok: 'pass',
  skipped: 'circle-slash',
};

const SEVERITIES: readonly Finding['severity'][] = ['error', 'warning', 'note', 'skipped'];

/** Return the rows, the most severe findings first. Those that are in order share a row. */
export function findingRows(findings: readonly Finding[], breakpoints: readonly Place[]): FindingRow[] {
  const rows = SEVERITIES.flatMap((severity) => findings.filter((finding) => finding.severity === severity));
  const passed = findings.filter(({ severity }) => severity === 'ok');
  const all = rows.map((finding, index) => findingRow(finding, `${index}`, breakpoints));
  const children = passed.map(({ what, check }, index) => rowOf(`ok/${index}`, what, check, 'pass'));
  const label = passed.length === 1 ? '1 check found no problem' : `${passed.length} checks found no problem`;
  return passed.length === 0 ? all : [...all, { ...rowOf('ok', label, '', 'pass'), children, isCollapsed: true }];
}

function findingRow(finding: Finding, index: string, breakpoints: readonly Place[]): FindingRow {
  const { check, severity, what, why, what_to_do: fix, subject } = finding;
  const fixPlace = fix === '' ? undefined : placeOfFix(finding);
  const context = fix === '' ? 'raydap.finding' : `raydap.finding.${fixPlace ?? 'copy'}`;
  const id = `${index} ${check} ${what}`;
  const frame = breakpoints.find(({ path, line }) => subject === `${path.replace(/^.*[/\\]/, '')}:${line}`) ?? null;
  const fixRow = { ...rowOf(`${id}/fix`, fix, '', fixPlace === 'terminal' ? 'terminal' : 'code'), context };
  return {
    ...rowOf(id, what, severity === 'skipped' ? why : check, ICONS[severity]),
    tooltip: [`${severity}: ${what}`, why, fix].filter((text) => text !== '').join('\n\n'),
    frame,
    fix,
    fixPlace,
    context,
    children: [
      ...(why === '' || severity === 'skipped' ? [] : [rowOf(`${id}/why`, why, '', 'question')]),
      ...(fix === '' ? [] : [{ ...fixRow, fix, fixPlace }]),
    ],
    isCollapsed: severity === 'note' && fix === '',
  };
}

/** Return where a fix belongs. raydap prints commands, statements of Python, and members of a configuration. */
function placeOfFix({ check, what_to_do: fix }: Finding): FixPlace | undefined {
  if (check === 'token') {
    return 'token';
  }
  if (fix.startsWith('"')) {
    return 'configuration';
  }
  if (check === 'dashboard' && /\b(HOST|URL)\b/.test(fix)) {
    return 'address';
  }
  // A variable such as `RAY_CGRAPH_get_timeout=3600` belongs into the environment of the program.
  return /^[\w./-]+( |$)/.test(fix) ? 'terminal' : undefined;
}

function rowOf(id: string, label: string, description: string, icon: string): FindingRow {
  const shown = { id, label, description, tooltip: label, icon };
  return { ...shown, context: 'raydap.finding', frame: null, children: [], fix: '', fixPlace: undefined };
}
