/** Where the nodes of a tree of calls are drawn: a row per depth, the widest first, children within their parents. */

import { type CallTree, pathTo } from "../base/calltree";
import { groupBy } from "../base/group";

export interface FlameBox {
  readonly node: number;
  readonly depth: number;
  /** Shares of the width. */
  readonly left: number;
  readonly width: number;
}

/** The children of each node, the heaviest first; the roots under -1. */
export function childrenOf({ parent, total }: CallTree): ReadonlyMap<number, readonly number[]> {
  const children = groupBy(parent.keys(), (node) => parent[node] ?? -1);
  for (const siblings of children.values()) siblings.sort((a, b) => (total[b] ?? 0) - (total[a] ?? 0) || a - b);
  return children;
}

/**
 * The boxes whose share of the width is `least` or more: the chosen node and all nodes within it, below those that
 * enclose it, which take the whole width; of all nodes if the chosen one is -1.
 */
export function flameBoxes(
  tree: CallTree,
  children: ReadonlyMap<number, readonly number[]>,
  chosen: number,
  least: number,
): FlameBox[] {
  const boxes: FlameBox[] = [];
  const path = pathTo(tree, chosen);
  for (const [depth, node] of path.slice(0, -1).entries()) boxes.push({ node, depth, left: 0, width: 1 });
  const roots = chosen < 0 ? (children.get(-1) ?? []) : [chosen];
  let rootWeight = 0;
  for (const node of roots) rootWeight += tree.total[node] ?? 0;
  const stack: FlameBox[] = [];
  const addSiblings = (nodes: readonly number[], depth: number, from: number) => {
    let left = from;
    for (const node of nodes) {
      const width = rootWeight > 0 ? (tree.total[node] ?? 0) / rootWeight : 0;
      if (width < least) return; // The heaviest come first.
      stack.push({ node, depth, left, width });
      left += width;
    }
  };
  addSiblings(roots, Math.max(0, path.length - 1), 0);
  for (let box = stack.pop(); box; box = stack.pop()) {
    boxes.push(box);
    addSiblings(children.get(box.node) ?? [], box.depth + 1, box.left);
  }
  return boxes;
}
