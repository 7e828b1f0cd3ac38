/** Places of a tree's nodes: what feeds a node stands left of it, and the root at the right end. */

export interface Placed {
  /** Columns from the left, 0 for the deepest node. */
  readonly column: number;
  /** Rows from the top; a node stands in the middle of what feeds it. */
  readonly row: number;
}

/** `parents[i]` is the node that node i feeds, or -1. A parent that would close a circle is taken as none. */
export function treeLayout(parents: readonly number[]): Placed[] {
  const feeds = parents.map((): number[] => []);
  const roots: number[] = [];
  parents.forEach((parent, node) => {
    if (parent >= 0 && parent < parents.length && !closesCircle(parents, node)) feeds[parent]?.push(node);
    else roots.push(node);
  });
  const depth = new Array<number>(parents.length).fill(0);
  const row = new Array<number>(parents.length).fill(0);
  let next = 0;
  const order = [...roots].reverse();
  const visited: number[] = [];
  while (order.length > 0) {
    const node = order.pop() as number;
    visited.push(node);
    for (const child of [...(feeds[node] ?? [])].reverse()) {
      depth[child] = (depth[node] ?? 0) + 1;
      order.push(child);
    }
    if (feeds[node]?.length === 0) row[node] = next++;
  }
  for (const node of visited.reverse()) {
    const below = (feeds[node] ?? []).map((child) => row[child] ?? 0);
    if (below.length > 0) row[node] = (Math.min(...below) + Math.max(...below)) / 2;
  }
  const deepest = depth.reduce((most, each) => Math.max(most, each), 0);
  return parents.map((_, node) => ({ column: deepest - (depth[node] ?? 0), row: row[node] ?? 0 }));
}

function closesCircle(parents: readonly number[], node: number): boolean {
  let above = parents[node] ?? -1;
  for (let steps = 0; above >= 0 && steps <= parents.length; steps++) {
    if (above === node) return true;
    above = parents[above] ?? -1;
  }
  return above >= 0;
}
