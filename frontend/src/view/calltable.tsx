/** A tree of calls as rows that open: of an inverted tree the functions by their own weight, and below each who calls it. */

import { useMemo, useState } from "preact/hooks";
import { type CallTree, callName } from "../base/calltree";
import { formatCount, formatMemory, formatPercent, formatTime } from "../base/format";
import { t } from "../base/messages";
import { deltaClass } from "./delta";
import { childrenOf } from "./flamelayout";
import { NameCell, ShareCell, TreeTable } from "./treerows";

/** Further callers, the lightest, are left out. */
const MOST_CHILDREN = 100;
const SHARE = t("Share");
const TEXT_HEADS: ReadonlySet<string> = new Set([SHARE]);

export function weightText({ unit }: CallTree, weight: number): string {
  return unit === "bytes" ? formatMemory(weight) : formatTime(weight, "ps");
}

/** The difference from the baseline, with its sign. */
export function deltaText(tree: CallTree, node: number): string {
  const delta = tree.delta?.[node] ?? 0;
  return delta > 0 ? `+${weightText(tree, delta)}` : delta < 0 ? `−${weightText(tree, -delta)}` : "±0";
}

interface CallTableProps {
  readonly tree: CallTree;
  readonly label: string;
  /** What calls are weighed by. */
  readonly weight: string;
  /** Rows whose names contain it stand out. */
  readonly find: string;
}

export function CallTable({ tree, label, weight, find }: CallTableProps) {
  const children = useMemo(() => childrenOf(tree), [tree]);
  const [open, setOpen] = useState<{ readonly tree: CallTree; readonly nodes: ReadonlySet<number> }>({
    tree,
    nodes: new Set(),
  });
  const isOpen = (node: number) => open.tree === tree && open.nodes.has(node);
  const toggle = (node: number) => {
    const nodes = new Set(open.tree === tree ? open.nodes : []);
    if (!nodes.delete(node)) {
      nodes.add(node);
      // A single caller has nothing to choose from: its callers show, too.
      for (let callers = children.get(node); callers?.length === 1; callers = children.get(callers[0] as number)) {
        nodes.add(callers[0] as number);
      }
    }
    setOpen({ tree, nodes });
  };
  const rows: { readonly node: number; readonly depth: number }[] = [];
  const addRows = (parent: number, depth: number) => {
    for (const node of (children.get(parent) ?? []).slice(0, MOST_CHILDREN)) {
      rows.push({ node, depth });
      if (isOpen(node)) addRows(node, depth + 1);
    }
  };
  addRows(-1, 0);
  const words = find.trim().toLowerCase();
  const heads = [weight, ...(tree.delta ? [t("Δ baseline")] : []), SHARE, t("Calls")];
  return (
    <div class="optree calltable">
      <TreeTable label={label} name={t("Name")} heads={heads} textHeads={TEXT_HEADS}>
        {rows.map(({ node, depth }) => {
          const name = callName(tree, node);
          const share = tree.total_weight > 0 ? (tree.total[node] ?? 0) / tree.total_weight : 0;
          const isNodeOpen = children.has(node) ? isOpen(node) : undefined;
          return (
            <tr key={node} class={words && name.toLowerCase().includes(words) ? "found" : undefined}>
              <NameCell name={name} depth={depth} tip={name} isOpen={isNodeOpen} toggle={() => toggle(node)} />
              <td class="number">{weightText(tree, tree.total[node] ?? 0)}</td>
              {tree.delta && <td class={`number ${deltaClass(tree.delta[node] ?? 0)}`}>{deltaText(tree, node)}</td>}
              <ShareCell text={formatPercent(share)} length={share}>
                <i />
              </ShareCell>
              <td class="number">{formatCount(tree.calls[node] ?? 0)}</td>
            </tr>
          );
        })}
      </TreeTable>
    </div>
  );
}
