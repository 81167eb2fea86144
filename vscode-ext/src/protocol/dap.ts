/** The messages of DAP, as far as the extension reads or changes them. */

import type { OutputData, Requests } from './messages';

/** A failed response (spec: ErrorResponse). */
export interface Failure {
  type: 'response';
  success: false;
  command: string;
  message?: string;
  body?: { error?: { id?: number; format?: string; showUser?: boolean } };
}

export interface Response {
  readonly type: 'response';
  readonly success: true;
  readonly command: string;
  readonly body?: unknown;
}

/** Where a frame's code is (spec: Source). */
export interface Source {
  readonly name?: string;
  readonly path?: string;
  readonly sourceReference?: number;
}

/** The answer to `stackTrace`. */
export interface StackTrace {
  readonly stackFrames?: readonly { readonly line: number; readonly source?: Source }[];
}

/** The requests that start a session. */
const START_REQUESTS = ['initialize', 'attach', 'launch'];

export function isFailure(message: unknown): message is Failure {
  const { type, success } = message as Partial<Failure>;
  return type === 'response' && success === false;
}

export function isFailedStart(message: unknown): message is Failure {
  return isFailure(message) && START_REQUESTS.includes(message.command);
}

export function isResponseTo(
  command: keyof Requests | 'initialize' | 'stackTrace',
  message: unknown,
): message is Response {
  const response = message as Partial<Response>;
  return response.type === 'response' && response.success === true && response.command === command;
}

/** Raydap's number of the error (docs/errors.md). */
export function errorCode(failure: Failure): number | undefined {
  return failure.body?.error?.id;
}

export function errorText(failure: Failure): string {
  return failure.body?.error?.format ?? failure.message ?? `raydap refused ${failure.command}.`;
}

/**
 * Keeps VS Code from showing this failure (spec: Message, `showUser`). VS Code shows that of configurationDone in any case,
 * so that one becomes a success: nothing depends on it once the start has failed.
 */
export function hideFromUser(failure: Failure): void {
  if (failure.command === 'configurationDone') {
    Object.assign(failure, { success: true });
  }
  failure.body = { ...failure.body, error: { ...failure.body?.error, showUser: false } };
}

/** An `output` event. VS Code shows a notification for each `important` one. */
interface Output {
  readonly event?: string;
  readonly body?: { category?: string; readonly output?: string; readonly data?: Partial<OutputData> | null };
}

/**
 * Turns a notification into a line of the console, and returns its text and the number of the error that it is about.
 * Undefined for all other messages.
 */
export function demoteToConsole(message: unknown): { readonly text: string; readonly code: number } | undefined {
  const { event, body } = message as Output;
  if (event !== 'output' || body?.category !== 'important') {
    return undefined;
  }
  body.category = 'console';
  return { text: body.output?.trim() ?? '', code: body.data?.raydap?.code ?? 0 };
}
