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
  ["Instruction", "expression"],
  ["Backend", "config"],
];

interface OpProps {
  readonly store: Store;
  readonly table: Table;
  readonly row: Row;
  /** Id of the op's program. */
  readonly program: string;
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
export function OpActions({ store, name, program }: { store: Store; name: string; program: string }) {
  const graph = { options: { module_name: program, node_name: name } };
  const around = store.view.value.tool === "graph_viewer" ? undefined : linkTo(store, "graph_viewer", graph);
  const memory = program ? linkTo(store, "memory_viewer", { options: { module_name: program } }) : undefined;
  const links = [eventsOf(store, name), around, memory].flatMap((link) => link ?? []);
  return (
    <p class="op-actions">
      {links.map((link) => (
        <GoLink key={link.label} {...link} />
      ))}
      <Copy text={name} />
    </p>
  );
}

export function OpCard({ store, table, row, program }: OpProps) {
  const known = FIGURES.filter((id) => table.has(id) && !["", null].includes(table.cell(row, id) as string | null));
  const texts = TEXTS.map(([label, id]) => [label, id, table.text(row, id)] as const).filter(([, , text]) => text);
  return (
    <div class="op-card">
      <OpActions store={store} name={table.text(row, "name")} program={program} />
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

/** The same before the page, for tables whose rows are ops. */
export function OpDialog({ close, ...op }: OpProps & { readonly close: () => void }) {
  return (
    <Dialog title={op.table.text(op.row, "name")} class="op-dialog" close={close}>
      <OpCard {...op} />
    </Dialog>
  );
}
