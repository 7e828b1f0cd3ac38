/** Which ops take the time, on the host and on the device, by op and by type? */

import { useMemo } from "preact/hooks";
import { t } from "../base/messages";
import type { Row, Table } from "../base/table";
import { linkToOpEvents } from "../state/links";
import { useChoice, useChoices } from "../view/choices";
import { Grid } from "../view/grid";
import type { ColumnSpec } from "../view/gridmodel";
import { Notes } from "../view/problems";
import { Section } from "../view/section";
import { ShareLists } from "../view/sharebars";
import { Switch } from "../view/switch";
import { Verdict } from "../view/verdict";
import { useOpDialog } from "./card/opcard";
import { exportName, type PageProps } from "./page";

const IDLE = "IDLE";
const SPECS: Readonly<Record<string, ColumnSpec>> = {
  place: { facet: true },
  type: { facet: true },
  share: { bar: true },
  share_with_idle: { bar: true },
  self_average_us: { hidden: true },
  shortest_us: { hidden: true },
  model_gflop_per_s: { hidden: true },
  program_id: { hidden: true },
  instruction: { hidden: true },
  bound_by: { facet: true },
  cost: { facet: true },
  longest_us: { hidden: true },
};

/** What stands for the number of a scope, with what follows it: an op of the group has all that lies between. */
const MERGED = /[._]N(?=\/)/;

const TRANSFERS: Readonly<Record<string, ColumnSpec>> = { kind: { facet: true } };

/** What the address says, the table, and its name in the menu. */
const TABLES: readonly (readonly [string, string, string])[] = [
  ["op", "ops", t("by op")],
  ["scope", "scopes", t("by op, numbered scopes merged")],
  ["type", "types", t("by type")],
];

/** Columns of the other way to count are left out. */
function counted(ops: Table, idle: boolean): Table {
  const left = idle ? ["share", "cumulative"] : ["share_with_idle", "cumulative_with_idle"];
  const shown = ops.without(left);
  return idle ? shown : shown.except("type", IDLE);
}

export default function OpsPage(props: PageProps) {
  const { answer, store } = props;
  const [counting, count] = useChoice("idle");
  const [grouping, group] = useChoice("group");
  const [, choose] = useChoices();
  const idle = counting === "in";
  const by = TABLES.find(([value]) => value === grouping)?.[1] ?? (answer.text("grouping") || "ops");
  const grouped = by !== "ops";
  const transfers = answer.table("transfers");
  const shares = useMemo(() => answer.table("shares").where({ idle: String(idle) }), [answer, idle]);
  const ops = useMemo(() => counted(answer.table("ops"), idle), [answer, idle]);
  const shown = grouped ? answer.table(by) : ops;
  const [open, dialog] = useOpDialog(store);
  const linkOf = (row: Row) => {
    const type = shown.text(row, "type");
    if (by === "types") return { go: () => choose({ group: "op", "ops.only.type": type }) };
    if (type === IDLE) return undefined;
    if (by === "scopes") {
      const find = shown.text(row, "name").split(MERGED).join(" ");
      return { go: () => choose({ group: "op", "ops.only.type": type, "ops.find": find }) };
    }
    const events = ops.text(row, "name");
    const name = ops.text(row, "instruction") || events;
    return { go: () => open({ table: ops, row, name, program: ops.text(row, "program_id"), events }) };
  };
  return (
    <>
      {answer.headline && <Verdict {...answer.headline} />}
      <Notes notes={answer.notes} store={store} />
      <ShareLists shares={shares} times="self_us" pick={(name) => choose({ group: "op", "ops.find": name })} />
      <Section
        title={shown.label}
        doc={t("Self times are summed over threads or streams, so they can exceed the capture's length.")}
        note={idle && !grouped ? t("with idle time") : undefined}
        controls={
          <>
            <select
              aria-label={t("Grouping")}
              value={TABLES.find(([, table]) => table === by)?.[0]}
              onChange={(event) => group(event.currentTarget.value)}
            >
              {TABLES.map(([value, , label]) => (
                <option key={value} value={value}>
                  {label}
                </option>
              ))}
            </select>
            {!grouped && (
              <Switch
                label={t("Include idle time")}
                doc={t("Counts time without any op as an op named IDLE.")}
                on={idle}
                set={(on) => count(on ? "in" : "")}
              />
            )}
          </>
        }
      >
        <Grid
          key={by}
          table={shown}
          specs={SPECS}
          hideEmpty
          name={exportName(props, by)}
          id={by}
          sort={grouped ? [{ id: "self_us", desc: true }] : []}
          link={linkOf}
        />
        {dialog}
      </Section>
      {transfers.rows.length > 0 && (
        <Section title={transfers.label} doc={transfers.doc}>
          <Grid
            table={transfers}
            specs={TRANSFERS}
            hideEmpty
            name={exportName(props, "transfers")}
            id="transfers"
            link={(row) => linkToOpEvents(store, transfers.text(row, "name"))}
          />
        </Section>
      )}
    </>
  );
}
