/** The messages between pages and the extension. */

export type ComparisonMessage =
  | {
      readonly kind: 'compare';
      readonly expression: string;
      readonly select: string;
      readonly keep: boolean;
      readonly since: boolean;
    }
  | FocusMessage;

export interface FocusMessage {
  readonly kind: 'focus';
  readonly threadId: number;
}

/** The only message to the page of a comparison: workers have stopped or have continued since. */
export const MOVED = 'moved';
