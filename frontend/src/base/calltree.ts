/** Calls merged by path, as the server tells them: parents stand before their children. */

export interface CallTree {
  /** The node around each one; -1 on top. */
  readonly parent: readonly number[];
  /** Index of each node's name in `names`. */
  readonly name: readonly number[];
  /** Self weight of each node in `unit`: without its children's. */
  readonly own: readonly number[];
  /** Weight of each node with all its children's. */
  readonly total: readonly number[];
  /** How often each node was called; 0 for threads. */
  readonly calls: readonly number[];
  readonly names: readonly string[];
  readonly unit: "ps" | "bytes";
  /** Sum of the totals of all nodes on top. */
  readonly total_weight: number;
  /** The baseline's total of each node, and how much more there is here. */
  readonly base_total?: readonly number[];
  readonly delta?: readonly number[];
  /** What the baseline alone has: the heaviest nodes, how many others, what those and all weigh there. */
  readonly base_only?: {
    readonly nodes: readonly number[];
    readonly others: number;
    readonly others_total: number;
    readonly total: number;
  };
}

export const callName = ({ name, names }: CallTree, node: number) => names[name[node] ?? -1] ?? "";

/** The nodes around one and itself, from the top. */
export function pathTo({ parent }: CallTree, node: number): number[] {
  const path: number[] = [];
  for (let at = node; at >= 0; at = parent[at] ?? -1) path.push(at);
  return path.reverse();
}

/** A tree, and what else its calls could be weighed by. */
export interface WeightedCalls extends CallTree {
  readonly weight: string;
  readonly weights: readonly { readonly id: string; readonly label: string }[];
}

/** Where the trees of a table come from. */
export interface CallSource {
  calls(choice: { readonly weight: string; readonly inverted: boolean }, signal: AbortSignal): Promise<WeightedCalls>;
  /** The address of the tree as a file for another tool. */
  callsFile(weight: string, format: string): string;
}
