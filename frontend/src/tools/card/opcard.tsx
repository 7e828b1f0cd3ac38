/** One op, operator, kernel, allocation or collective: its figures, where it comes from, and the ways to its events, graph and memory. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { formatValue } from "../../base/format";
import { t } from "../../base/messages";
import type { Row, Table } from "../../base/table";
import { linkTo, linkToOpEvents } from "../../state/links";
import type { Store } from "../../state/store";
import { CopyButton } from "../../view/copy";
import { Dialog } from "../../view/dialog";
import { Code, Figure } from "../../view/textparts";
import { ViewLink } from "../../view/viewlink";
import { type HostEvent, Origin, SourceLine } from "./eventorigin";

/** Columns of figures that are shown where the table has them and the row knows them. */
const FIGURE_COLUMNS = `
  self_us share count average_us bound_us wasted_us efficiency bound_by gflop_per_s gib_per_s gb_per_s
  bus_gb_per_s flop_per_byte flops bytes cost dtype result_bytes constants device_self_us device_total_us
  backward_device_us host_self_us host_total_us backward_host_us tensor_core_share total_us registers
  shared_bytes block grid occupancy_percent total_bytes values saved_bytes left_bytes kept_bytes
  requested_bytes data_type late waiting_us transfer_us`
  .trim()
  .split(/\s+/);
/** Longer pieces of text: what they are called, and their column. */
const TEXT_COLUMNS: readonly (readonly [string, string])[] = [
  [t("Full name"), "full_name"],
  [t("Framework op"), "op_name"],
  [t("Op"), "op"],
  [t("Shapes"), "shapes"],
  [t("Shape"), "shape"],
  [t("Called from"), "line"],
  [t("Source"), "stack"],
  [t("Source"), "source"],
  [t("Instruction"), "expression"],
  [t("Backend"), "config"],
];

/** Those of them that an editor can open. */
const SOURCE_LINE_COLUMNS = new Set(["line", "source"]);

export interface CardOp {
  readonly table: Table;
  readonly row: Row;
  /** What it is called: of an XLA program the instruction. */
  readonly name: string;
  /** Id or title of its XLA program; empty for other ops. */
  readonly program: string;
  /** What its events are found by; empty where one event stands for it, or none. */
  readonly eventName: string;
  /** The event to tell of; else its longest one. */
  readonly event?: HostEvent | undefined;
  /** More of it, which a page knows. */
  readonly extra?: ComponentChildren;
}

/** The ways from an op to all that is known about it; those that have nothing to show are left out. */
function OpLinks({ store, op }: { store: Store; op: CardOp }) {
  const options = { module_name: op.program, node_name: op.name };
  const graph = op.program ? linkTo(store, "graph_viewer", { options }) : undefined;
  const memory = op.program ? linkTo(store, "memory_viewer", { options: { module_name: op.program } }) : undefined;
  const links = [linkToOpEvents(store, op.eventName), graph, memory].flatMap((link) => link ?? []);
  return (
    <p class="op-actions">
      {links.map((link) => (
        <ViewLink key={link.label} {...link} />
      ))}
      <CopyButton text={() => op.name} label={t("Copy name")} />
    </p>
  );
}

export function OpCard({ store, op }: { store: Store; op: CardOp }) {
  const { table, row } = op;
  const figures = FIGURE_COLUMNS.filter(
    (id) => table.has(id) && !["", null].includes(table.cell(row, id) as string | null),
  );
  const texts = TEXT_COLUMNS.map(([label, id]) => [label, id, table.text(row, id)] as const)
    .filter(([, , text]) => text && text !== op.name)
    // The stack begins with the line, and the event has its own.
    .filter(([, id]) => id !== "line" || !op.event)
    .filter(([, id]) => id !== "source" || !table.text(row, "stack"));
  return (
    <div class="op-card">
      <OpLinks store={store} op={op} />
      <dl class="figures">
        {figures.map((id) => {
          const { label = id, unit = "", doc = "", depends = [] } = table.column(id) ?? {};
          return (
            <Figure key={id} label={label} value={formatValue(table.cell(row, id), unit)} doc={doc} depends={depends} />
          );
        })}
      </dl>
      {(op.event || op.eventName) && (
        <Origin key={op.event?.event ?? op.eventName} store={store} source={op.event ?? { op: op.eventName }} />
      )}
      {op.extra}
      {texts.map(([label, id, text]) => (
        <details key={id} open={id !== "config"}>
          <summary>{label}</summary>
          {SOURCE_LINE_COLUMNS.has(id) ? <SourceLine line={text} /> : <Code text={text} />}
        </details>
      ))}
    </div>
  );
}

/** A way to open an op before the page, and what is open. */
export function useOpDialog(store: Store) {
  const [op, openOp] = useState<CardOp | null>(null);
  const dialog = op && (
    <Dialog title={op.name} class="op-dialog" close={() => openOp(null)}>
      <OpCard store={store} op={op} />
    </Dialog>
  );
  return [openOp, dialog] as const;
}
