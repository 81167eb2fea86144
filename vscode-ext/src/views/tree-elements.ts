/** The elements of the Ray view: clusters, the nodes of their trees, and problems. */

import { ClusterConnection } from '../model/cluster-connection';
import type { TreeNode } from '../model/worker-tree';

export type Element = ClusterConnection | TreeNode | ProblemElement;

/** The problem that is shown below a cluster that cannot be watched. */
export class ProblemElement {
  constructor(
    readonly connection: ClusterConnection,
    readonly text: string,
  ) {}
}

export function isTreeNode(element: Element): element is TreeNode {
  return !(element instanceof ClusterConnection) && !(element instanceof ProblemElement);
}
