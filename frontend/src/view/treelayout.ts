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
  const { childrenOf, roots } = childrenAndRoots(parents);
  const order = parentsFirst(childrenOf, roots);
  const depth = depths(childrenOf, order);
  const row = rows(childrenOf, order);
  const deepest = largest(depth);
  return parents.map((_, node) => ({ column: deepest - (depth[node] ?? 0), row: row[node] ?? 0 }));
}

function childrenAndRoots(parents: readonly number[]): { childrenOf: number[][]; roots: number[] } {
  const childrenOf = parents.map((): number[] => []);
  const roots: number[] = [];
  const isInTree = nodesWithRoot(parents);
  parents.forEach((parent, node) => {
    if (parent >= 0 && parent < parents.length && isInTree[node]) childrenOf[parent]?.push(node);
    else roots.push(node);
  });
  return { childrenOf, roots };
}

/** All nodes, each before what feeds it. */
function parentsFirst(childrenOf: readonly number[][], roots: readonly number[]): number[] {
  const order: number[] = [];
  const stack = [...roots].reverse();
  while (stack.length > 0) {
    const node = stack.pop() as number;
    order.push(node);
    for (const child of [...(childrenOf[node] ?? [])].reverse()) stack.push(child);
  }
  return order;
}

function depths(childrenOf: readonly number[][], order: readonly number[]): number[] {
  const depth = childrenOf.map(() => 0);
  for (const node of order) for (const child of childrenOf[node] ?? []) depth[child] = (depth[node] ?? 0) + 1;
  return depth;
}

function rows(childrenOf: readonly number[][], order: readonly number[]): number[] {
  let nextLeafRow = 0;
  const row = childrenOf.map(() => 0);
  for (const node of order) if (childrenOf[node]?.length === 0) row[node] = nextLeafRow++;
  for (const node of [...order].reverse()) {
    const childRows = (childrenOf[node] ?? []).map((child) => row[child] ?? 0);
    if (childRows.length > 0) row[node] = (smallest(childRows) + largest(childRows)) / 2;
  }
  return row;
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
