/** Calls merged by path, as the server tells them: parents stand before their children. */

export interface CallTree {
  /** The node around each one; -1 on top. */
  readonly parent: readonly number[];
  /** Place in `names`. */
  readonly name: readonly number[];
  readonly own: readonly number[];
  /** Its own and all children's. */
  readonly total: readonly number[];
  readonly calls: readonly number[];
  readonly names: readonly string[];
  readonly unit: "ps" | "bytes";
  /** Of all nodes on top. */
  readonly total_weight: number;
  /** The baseline's totals, and how much more there is here. */
  readonly base_total?: readonly number[];
  readonly delta?: readonly number[];
}

export const nameOf = ({ name, names }: CallTree, node: number) => names[name[node] ?? -1] ?? "";

export interface TreeNode {
  readonly name: string;
  /** Place of the node around it, which stands before it; -1 on top. */
  readonly parent: number;
  /** Its own weight and that of all within it. */
  readonly total: number;
  readonly calls: number;
}

/** A tree in which each node has itself what those within it leave. */
export function treeOf(nodes: readonly TreeNode[], unit: CallTree["unit"]): CallTree {
  const own = nodes.map(({ total }) => total);
  for (const { parent, total } of nodes) if (parent >= 0) own[parent] = Math.max(0, (own[parent] ?? 0) - total);
  const places = new Map<string, number>();
  for (const { name } of nodes) if (!places.has(name)) places.set(name, places.size);
  return {
    parent: nodes.map(({ parent }) => parent),
    name: nodes.map(({ name }) => places.get(name) ?? 0),
    own,
    total: nodes.map(({ total }) => total),
    calls: nodes.map(({ calls }) => calls),
    names: [...places.keys()],
    unit,
    total_weight: nodes.reduce((sum, { parent, total }) => sum + (parent < 0 ? total : 0), 0),
  };
}

/** A tree of names whose parts stand between slashes, e.g. of scopes or modules. */
export function treeOfPaths(weights: readonly (readonly [path: string, weight: number])[], unit: CallTree["unit"]) {
  const nodes: { name: string; parent: number; total: number; calls: number }[] = [];
  const places = new Map<string, number>();
  for (const [path, weight] of weights) {
    let [parent, around] = [-1, ""];
    for (const name of path.split("/")) {
      around += `/${name}`;
      const place = places.get(around) ?? nodes.push({ name, parent, total: 0, calls: 0 }) - 1;
      places.set(around, place);
      const node = nodes[place];
      if (node) node.total += weight;
      parent = place;
    }
  }
  return treeOf(nodes, unit);
}
