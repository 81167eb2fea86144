/** What the pages tell the extension. */

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
