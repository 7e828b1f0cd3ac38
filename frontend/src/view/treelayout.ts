/** Places of a tree's nodes: what feeds a node stands left of it, and the root at the right end. */

import { largest, smallest } from "../base/extent";

export interface Placed {
  /** Columns from the left, 0 for the deepest node. */
  readonly column: number;
  /** Rows from the top; a node stands in the middle of what feeds it. */
  readonly row: number;
}

/** `parents[i]` is the node that node i feeds, or -1. A parent that leads into a circle is taken as none. */
export function treeLayout(parents: readonly number[]): Placed[] {
  const feeds = parents.map((): number[] => []);
  const roots: number[] = [];
  const sound = endingAtRoots(parents);
  parents.forEach((parent, node) => {
    if (parent >= 0 && parent < parents.length && sound[node]) feeds[parent]?.push(node);
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
    const places = (feeds[node] ?? []).map((child) => row[child] ?? 0);
    const [low, high] = [smallest(places), largest(places)];
    if (feeds[node]?.length) row[node] = (low + high) / 2;
  }
  const deepest = largest(depth);
  return parents.map((_, node) => ({ column: deepest - (depth[node] ?? 0), row: row[node] ?? 0 }));
}

/** For each node whether one comes to a root from it; each is walked over once, however deep they lie. */
function endingAtRoots(parents: readonly number[]): boolean[] {
  const ends: boolean[] = [];
  parents.forEach((_, node) => {
    const path = new Set<number>();
    let at = node;
    while (at >= 0 && at < parents.length && ends[at] === undefined && !path.has(at)) {
      path.add(at);
      at = parents[at] ?? -1;
    }
    const sound = ends[at] ?? !path.has(at);
    for (const each of path) ends[each] = sound;
  });
  return ends;
}
