/** One op of an XLA program: its figures, where it comes from, and the ways to its events, graph and memory. */

import { useState } from "preact/hooks";
import { shown } from "../../base/format";
import type { Row, Table } from "../../base/table";
import { eventsOf, linkTo } from "../../state/links";
import type { Store } from "../../state/store";
import { Dialog } from "../../view/dialog";
import { Icon } from "../../view/icons";
import { Code, Figure } from "../../view/rich";
import { GoLink } from "../../view/verdict";

/** Of these columns those that the table has are shown, where the row knows them. */
const FIGURES: readonly string[] = [
  "self_us",
  "share",
  "executions",
  "average_us",
  "bound_us",
  "wasted_us",
  "efficiency",
  "bound_by",
  "gflop_per_s",
  "gib_per_s",
  "flop_per_byte",
  "flops",
  "bytes",
  "cost",
  "dtype",
  "result_bytes",
  "constants",
];
/** Longer pieces of text: what they are called, and their column. */
const TEXTS: readonly (readonly [string, string])[] = [
  ["Framework op", "op_name"],
  ["Source", "stack"],
  ["Source", "source"],
  ["Instruction", "expression"],
  ["Backend", "config"],
];

export interface Op {
  readonly table: Table;
  readonly row: Row;
  /** The instruction, and its program's id or title. */
  readonly name: string;
  readonly program: string;
  /** What its events are found by. */
  readonly events: string;
}

function Copy({ text }: { text: string }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 1500);
  };
  return (
    <button type="button" class="button" onClick={copy}>
      <Icon name={copied ? "ok" : "copy"} /> {copied ? "Copied" : "Copy name"}
    </button>
  );
}

/** The ways from an op to all that is known about it; those that have nothing to show are left out. */
function Actions({ store, op }: { store: Store; op: Op }) {
  const options = { module_name: op.program, node_name: op.name };
  const around = op.program ? linkTo(store, "graph_viewer", { options }) : undefined;
  const memory = op.program ? linkTo(store, "memory_viewer", { options: { module_name: op.program } }) : undefined;
  const links = [eventsOf(store, op.events), around, memory].flatMap((link) => link ?? []);
  return (
    <p class="op-actions">
      {links.map((link) => (
        <GoLink key={link.label} {...link} />
      ))}
      <Copy text={op.name} />
    </p>
  );
}

export function OpCard({ store, op }: { store: Store; op: Op }) {
  const { table, row } = op;
  const known = FIGURES.filter((id) => table.has(id) && !["", null].includes(table.cell(row, id) as string | null));
  const texts = TEXTS.map(([label, id]) => [label, id, table.text(row, id)] as const)
    .filter(([, , text]) => text)
    // The stack begins with the line.
    .filter(([, id]) => id !== "source" || !table.text(row, "stack"));
  return (
    <div class="op-card">
      <Actions store={store} op={op} />
      <dl class="figures">
        {known.map((id) => {
          const { label = id, unit = "", doc = "", depends = [] } = table.column(id) ?? {};
          return <Figure key={id} label={label} value={shown(table.cell(row, id), unit)} doc={doc} depends={depends} />;
        })}
      </dl>
      {texts.map(([label, id, text]) => (
        <details key={id} open={id !== "config"}>
          <summary>{label}</summary>
          <Code text={text} />
        </details>
      ))}
    </div>
  );
}

/** A way to open an op before the page, and what is open. */
export function useOpDialog(store: Store) {
  const [op, open] = useState<Op | null>(null);
  const dialog = op && (
    <Dialog title={op.name} class="op-dialog" close={() => open(null)}>
      <OpCard store={store} op={op} />
    </Dialog>
  );
  return [open, dialog] as const;
}
