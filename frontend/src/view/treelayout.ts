/** Columns and rows of a tree's nodes in a drawing: what feeds a node stands left of it, the root at the right end. */

import { largest, smallest } from "../base/extent";

export interface NodePlace {
  /** Columns from the left, 0 for the deepest node. */
  readonly column: number;
  /** Rows from the top; a node stands in the middle of what feeds it. */
  readonly row: number;
}

/** `parents[i]` is the node that node i feeds, or -1. Nodes whose parents lead into a cycle are taken as roots. */
export function treeLayout(parents: readonly number[]): NodePlace[] {
  const childrenOf = parents.map((): number[] => []);
  const roots: number[] = [];
  const isInTree = nodesWithRoot(parents);
  parents.forEach((parent, node) => {
    if (parent >= 0 && parent < parents.length && isInTree[node]) childrenOf[parent]?.push(node);
    else roots.push(node);
  });
  const depth = new Array<number>(parents.length).fill(0);
  const row = new Array<number>(parents.length).fill(0);
  let next = 0;
  const stack = [...roots].reverse();
  const visited: number[] = [];
  while (stack.length > 0) {
    const node = stack.pop() as number;
    visited.push(node);
    for (const child of [...(childrenOf[node] ?? [])].reverse()) {
      depth[child] = (depth[node] ?? 0) + 1;
      stack.push(child);
    }
    if (childrenOf[node]?.length === 0) row[node] = next++;
  }
  for (const node of visited.reverse()) {
    const childRows = (childrenOf[node] ?? []).map((child) => row[child] ?? 0);
    const [low, high] = [smallest(childRows), largest(childRows)];
    if (childrenOf[node]?.length) row[node] = (low + high) / 2;
  }
  const deepest = largest(depth);
  return parents.map((_, node) => ({ column: deepest - (depth[node] ?? 0), row: row[node] ?? 0 }));
}

/** For each node whether its parents lead to a root, and not into a cycle; each is visited once, however deep. */
function nodesWithRoot(parents: readonly number[]): boolean[] {
  const hasRootByNode: boolean[] = [];
  parents.forEach((_, node) => {
    const path = new Set<number>();
    let ancestor = node;
    while (ancestor >= 0 && ancestor < parents.length && hasRootByNode[ancestor] === undefined && !path.has(ancestor)) {
      path.add(ancestor);
      ancestor = parents[ancestor] ?? -1;
    }
    const hasRoot = hasRootByNode[ancestor] ?? !path.has(ancestor);
    for (const member of path) hasRootByNode[member] = hasRoot;
  });
  return hasRootByNode;
}
