/** The result of a probe of one Python interpreter. */

export const OLDEST_PYTHON = [3, 10] as const;

/** `reason` says why the interpreter, or raydap in it, cannot be run at all. */
export type InterpreterFinding =
  | { readonly kind: 'ready' | 'lacksRaydap' | 'tooOld'; readonly python: string; readonly version: string }
  | { readonly kind: 'brokenRaydap'; readonly python: string; readonly version: string; readonly reason: string }
  | { readonly kind: 'broken'; readonly python: string; readonly reason: string };
