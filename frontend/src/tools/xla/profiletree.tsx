/** The op profile as a tree of rows that open, with time at best and wasted time as one bar. */

import { useMemo } from "preact/hooks";
import { largest } from "../../base/extent";
import { formatPercent, formatSignificant, formatTime } from "../../base/format";
import { groupBy } from "../../base/group";
import { t } from "../../base/messages";
import type { Row, Table } from "../../base/table";
import type { Store } from "../../state/store";
import { DeltaCell, deltaMs } from "../../view/delta";
import { keysOpenAtFirst, NameCell, ShareCell, type TreeRows, TreeTable, useTreeRows } from "../../view/treerows";
import { useOpDialog } from "../card/opcard";

const TEXT_HEADS: ReadonlySet<string> = new Set([t("Share"), t("Bottleneck"), t("Source")]);

function profileTree(nodes: Table, idle: boolean): TreeRows<number | null> {
  const keyOf = (row: Row): number | null => nodes.numberOrZero(row, "id");
  const shown = idle ? nodes : nodes.filter((row) => nodes.text(row, "kind") !== "idle");
  const children = groupBy(shown.rows, (row) => nodes.number(row, "parent"));
  return { children, open: keysOpenAtFirst(shown, "of_busy", keyOf), keyOf };
}

interface TreeProps {
  readonly nodes: Table;
  readonly idle: boolean;
  readonly store: Store;
}

export function ProfileTree({ nodes, idle, store }: TreeProps) {
  const tree = useMemo(() => profileTree(nodes, idle), [nodes, idle]);
  const { rows, isOpen, toggle } = useTreeRows(tree, null);
  const [open, dialog] = useOpDialog(store);
  const show = (row: Row) => {
    const name = nodes.text(row, "op");
    open({ table: nodes, row, name, program: nodes.text(row, "program_id"), eventName: name });
  };
  const shareColumn = idle ? "share" : "of_busy";
  const largestShare = largest(rows.map((row) => nodes.numberOrZero(row, shareColumn)));
  const hasBaseline = nodes.has("delta_self_us");
  const heads = [
    t("Self time"),
    ...(hasBaseline ? [t("Δ per step")] : []),
    t("Share"),
    t("Wasted"),
    t("Roofline efficiency"),
    t("Bottleneck"),
    t("Executions"),
    "GFLOP/s",
    "GiB/s",
    t("Source"),
  ];
  return (
    <div class="optree">
      <TreeTable name={t("Name")} heads={heads} textHeads={TEXT_HEADS}>
        {rows.map((row) => {
          const id = nodes.numberOrZero(row, "id");
          return (
            <TreeRow
              key={id}
              nodes={nodes}
              row={row}
              shareColumn={shareColumn}
              largestShare={largestShare}
              show={() => show(row)}
              isOpen={isOpen(id)}
              toggle={() => toggle(id)}
            />
          );
        })}
      </TreeTable>
      {dialog}
    </div>
  );
}

interface TreeRowProps {
  readonly nodes: Table;
  readonly row: Row;
  /** The column that says how much of all time the row holds. */
  readonly shareColumn: string;
  /** The largest of these shares, which has the longest bar. */
  readonly largestShare: number;
  /** Undefined where it has no parts. */
  readonly isOpen: boolean | undefined;
  readonly toggle: () => void;
  readonly show: () => void;
}

function TreeRow({ nodes, row, shareColumn, largestShare, isOpen, toggle, show }: TreeRowProps) {
  const name = nodes.text(row, "name");
  const kind = nodes.text(row, "kind");
  const match = nodes.text(row, "match");
  const timeOf = (id: string) => nodes.formatCell(row, id, (us) => formatTime(us, "us"));
  const share = nodes.numberOrZero(row, shareColumn);
  const selfUs = nodes.numberOrZero(row, "self_us");
  // What is left of the bar is time at best.
  const barParts = ["unknown", "wasted"].map((id) => [id, nodes.numberOrZero(row, `${id}_us`)] as const);
  return (
    <tr class={match === "gone" ? "gone" : kind}>
      <NameCell
        name={name}
        depth={nodes.numberOrZero(row, "depth")}
        tip={nodes.text(row, "expression")}
        isOpen={isOpen}
        toggle={toggle}
        choose={kind === "op" && match !== "gone" ? show : undefined}
        match={match}
      />
      <td class="number">{timeOf("self_us")}</td>
      {nodes.has("delta_self_us") && <DeltaCell delta={deltaMs(nodes, row, "self_us")} show={(ms) => formatTime(ms)} />}
      <ShareCell
        text={nodes.formatCell(row, shareColumn, (value) => formatPercent(value))}
        length={selfUs ? share / largestShare : 0}
      >
        {barParts.map(([id, us]) => us > 0 && <i key={id} class={id} style={{ width: `${(100 * us) / selfUs}%` }} />)}
      </ShareCell>
      <td class="number">{timeOf("wasted_us")}</td>
      <td class="number">{nodes.formatCell(row, "efficiency", (value) => formatPercent(value, 0))}</td>
      <td>{nodes.text(row, "bound_by")}</td>
      <td class="number">{nodes.formatCell(row, "count", formatSignificant)}</td>
      <td class="number">{nodes.formatCell(row, "gflop_per_s", formatSignificant)}</td>
      <td class="number">{nodes.formatCell(row, "gib_per_s", formatSignificant)}</td>
      <td class="source" data-tip={nodes.text(row, "source")}>
        {nodes.text(row, "source").split("/").at(-1)}
      </td>
    </tr>
  );
}
