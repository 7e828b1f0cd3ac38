/** Where the nodes of a tree of calls are drawn: a row per depth, the widest first, children within their parents. */

import { type CallTree, pathTo } from "../base/calltree";

export interface FlameBox {
  readonly node: number;
  readonly depth: number;
  /** Shares of the width. */
  readonly left: number;
  readonly width: number;
}

/** The children of each node, the heaviest first; under -1 those on top. */
export function childrenOf({ parent, total }: CallTree): ReadonlyMap<number, readonly number[]> {
  const children = new Map<number, number[]>();
  for (const [node, around] of parent.entries()) {
    const siblings = children.get(around);
    if (siblings) siblings.push(node);
    else children.set(around, [node]);
  }
  for (const siblings of children.values()) siblings.sort((a, b) => (total[b] ?? 0) - (total[a] ?? 0) || a - b);
  return children;
}

/**
 * The boxes that are at least so wide a share of the picture: what is around the chosen node over the whole width, and
 * it with all that is within it; of -1 everything.
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
  let whole = 0;
  for (const node of roots) whole += tree.total[node] ?? 0;
  const waiting: FlameBox[] = [];
  const spread = (nodes: readonly number[], depth: number, from: number) => {
    let left = from;
    for (const node of nodes) {
      const width = whole > 0 ? (tree.total[node] ?? 0) / whole : 0;
      if (width < least) return; // The heaviest stand first.
      waiting.push({ node, depth, left, width });
      left += width;
    }
  };
  spread(roots, Math.max(0, path.length - 1), 0);
  for (let box = waiting.pop(); box; box = waiting.pop()) {
    boxes.push(box);
    spread(children.get(box.node) ?? [], box.depth + 1, box.left);
  }
  return boxes;
}
