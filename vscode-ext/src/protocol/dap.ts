/** The parts of DAP messages that the extension reads or changes. */

import type { OutputData, Requests } from './messages';

/** A failed response (spec: ErrorResponse). */
export interface Failure {
  type: 'response';
  success: false;
  command: string;
  message?: string;
  body?: { error?: { id?: number; format?: string; showUser?: boolean } };
}

/** A successful response (spec: Response). */
export interface Response {
  readonly type: 'response';
  readonly success: true;
  readonly command: string;
  readonly body?: unknown;
}

/** The source of a frame's code (spec: Source). */
export interface Source {
  readonly name?: string;
  readonly path?: string;
  readonly sourceReference?: number;
}

/** The body of the answer to `stackTrace`. */
export interface StackTrace {
  readonly stackFrames?: readonly { readonly line: number; readonly source?: Source }[];
}

/** The requests that start a session. */
const START_REQUESTS = ['initialize', 'attach', 'launch'];

export function isFailure(message: unknown): message is Failure {
  const { type, success } = message as Partial<Failure>;
  return type === 'response' && success === false;
}

/** Return whether a request that starts a session has failed. */
export function isFailedStart(message: unknown): message is Failure {
  return isFailure(message) && START_REQUESTS.includes(message.command);
}

/** Return whether this is the successful answer to a request of this name. */
export function isResponseTo(
  command: keyof Requests | 'initialize' | 'stackTrace' | 'configurationDone',
  message: unknown,
): message is Response {
  const response = message as Partial<Response>;
  return response.type === 'response' && response.success === true && response.command === command;
}

/** Return raydap's number of the error (docs/errors.md). */
export function errorCode(failure: Failure): number | undefined {
  return failure.body?.error?.id;
}

/** Return the sentence for the user. */
export function errorText(failure: Failure): string {
  return (
    failure.body?.error?.format ??
    failure.message ??
    `raydap refused the request ${failure.command} and gave no reason.`
  );
}

/**
 * Keep VS Code from showing a failure (spec: Message, `showUser`). VS Code always shows a failed `configurationDone`,
 * so this turns it into a success: nothing depends on it once the start has failed.
 */
export function hideFromUser(failure: Failure): void {
  if (failure.command === 'configurationDone') {
    Object.assign(failure, { success: true });
  }
  failure.body = { ...failure.body, error: { ...failure.body?.error, showUser: false } };
}

/** An `output` event. VS Code shows it as a notification if its category is `important`. */
interface Output {
  readonly event?: string;
  readonly body?: { category?: string; readonly output?: string; readonly data?: Partial<OutputData> | null };
}

/**
 * Turn a notification into a line of the console. Return its text and its error number, which is 0 if it reports no
 * error. Leave all other messages unchanged, and return undefined.
 */
export function demoteToConsole(message: unknown): { readonly text: string; readonly code: number } | undefined {
  const { event, body } = message as Output;
  if (event !== 'output' || body?.category !== 'important') {
    return undefined;
  }
  body.category = 'console';
  return { text: body.output?.trim() ?? '', code: body.data?.raydap?.code ?? 0 };
}
