/** The result of the check of one Python interpreter. */

/** The oldest version of Python that can run raydap. */
export const OLDEST_PYTHON = [3, 10] as const;

/**
 * Whether raydap can be run by an interpreter. `reason` explains why the interpreter, or raydap in it, cannot be run.
 * `installer` is `uv` for an environment without pip if uv is on the PATH.
 */
export type InterpreterFinding =
  | { readonly kind: 'ready' | 'tooOld'; readonly python: string; readonly version: string }
  | { readonly kind: 'lacksRaydap'; readonly python: string; readonly version: string; readonly installer?: 'uv' }
  | {
      readonly kind: 'brokenRaydap';
      readonly python: string;
      readonly version: string;
      readonly reason: string;
      readonly installer?: 'uv';
    }
  | { readonly kind: 'broken'; readonly python: string; readonly reason: string };
