/** A row of a tree view, as plain data. */

import type { CodeLocation } from '../protocol/messages';

/** One row. `Self` is the type of the rows of the view. */
export interface Row<Self> {
  /** Equal ids for equal contents, so that VS Code keeps the row expanded. */
  readonly id: string;
  readonly label: string;
  readonly description: string;
  readonly tooltip: string;
  readonly icon: string;
  /** The context value, which determines the menu. */
  readonly context: string;
  /** The place to which a click leads; null if there is none. */
  readonly frame: Pick<CodeLocation, 'path' | 'line'> | null;
  readonly children: readonly Self[];
  /** Whether the children are hidden at first. */
  readonly isCollapsed?: boolean;
}
