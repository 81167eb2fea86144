/** Keeps the rows that were described, so that a change costs what has changed. */

import type { Node } from './fleet';
import type { Row } from './words';

export class Rows {
  private kept = new WeakMap<Node, Row>();

  constructor(private readonly describe: (node: Node) => Row) {}

  of(node: Node): Row {
    const row = this.kept.get(node) ?? this.describe(node);
    this.kept.set(node, row);
    return row;
  }

  forget(nodes: readonly Node[]): void {
    for (const node of nodes) {
      this.kept.delete(node);
    }
  }
}
