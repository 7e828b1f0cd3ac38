/** The op profile as a flame graph: programs, categories or scopes, and the ops within. */

import { useMemo } from "preact/hooks";
import { type CallTree, type TreeNode, treeOf } from "../../base/calltree";
import type { Table } from "../../base/table";
import { FlameGraph } from "../../view/flamegraph";

const PS_PER_US = 1e6;

/** Rows stand behind the row around them. */
export function profileCalls(nodes: Table, idle: boolean): CallTree {
  const places = new Map<number, number>();
  const found: TreeNode[] = [];
  for (const row of nodes.rows) {
    if (!idle && nodes.text(row, "kind") === "idle") continue;
    const parent = nodes.number(row, "parent");
    const place = found.push({
      name: nodes.text(row, "name"),
      parent: parent === null ? -1 : (places.get(parent) ?? -1),
      total: nodes.length(row, "self_us") * PS_PER_US,
      calls: nodes.length(row, "count"),
    });
    places.set(nodes.length(row, "id"), place - 1);
  }
  return treeOf(found, "ps");
}

export function ProfileFlame({ nodes, idle, dark }: { nodes: Table; idle: boolean; dark: boolean }) {
  const tree = useMemo(() => profileCalls(nodes, idle), [nodes, idle]);
  return <FlameGraph tree={tree} label={nodes.label} dark={dark} find="" />;
}
