/** The messages between pages and the extension. */

/** A message from the comparison page. */
export type ComparisonMessage =
  | {
      readonly kind: 'compare';
      readonly expression: string;
      readonly select: string;
      /** Whether to keep the values, to compare later ones with them. */
      readonly keep: boolean;
      /** Whether to compare with the kept values. */
      readonly since: boolean;
      /** Whether to evaluate again after each stop. */
      readonly live: boolean;
    }
  | FocusMessage
  | CompletionMessage;

/** The field of the comparison page that is completed. */
export type CompletedField = 'expression' | 'select';

/** The request for texts with which a field can continue. */
export interface CompletionMessage {
  readonly kind: 'complete';
  readonly field: CompletedField;
  readonly text: string;
}

/** The request to select a stopped thread in VS Code. */
export interface FocusMessage {
  readonly kind: 'focus';
  readonly threadId: number;
}

/** A message to the comparison page. `moved`: workers have stopped or continued since the comparison. */
export type ToComparison =
  | { readonly kind: 'moved' }
  | (Omit<CompletionMessage, 'kind'> & { readonly kind: 'completions'; readonly options: readonly string[] })
  | {
      readonly kind: 'compared';
      readonly expression: string;
      readonly select: string;
      readonly since: boolean;
      readonly kept: boolean;
      /** The values, in HTML. */
      readonly results: string;
    };
