/** Which ops take the time, on the host and on the device, by op and by type? */

import { useMemo } from "preact/hooks";
import { t } from "../base/messages";
import type { Row, Table } from "../base/table";
import { linkToOpEvents } from "../state/links";
import { useChoice, useChoices, useIdleSwitch } from "../view/choices";
import { Grid } from "../view/grid";
import { type ColumnSpecs, columnSpecs } from "../view/gridmodel";
import { Section } from "../view/section";
import { Select } from "../view/select";
import { ShareLists } from "../view/sharebars";
import { Switch } from "../view/switch";
import { useOpDialog } from "./card/opcard";
import { exportName, type PageProps } from "./page";
import { PageHead } from "./shared/pagehead";
import { TableSection } from "./shared/tablesection";

const IDLE_TYPE = "IDLE";
const SPECS: ColumnSpecs = {
  share: { bar: true },
  share_with_idle: { bar: true },
  ...columnSpecs("place type bound_by cost", { facet: true }),
  ...columnSpecs("self_average_us shortest_us model_gflop_per_s program_id instruction longest_us", { hidden: true }),
};

/** What stands for the number of a scope, with what follows it: an op of the group has all that lies between. */
const MERGED_NUMBER = /[._]N(?=\/)/;

const TRANSFER_SPECS: ColumnSpecs = { kind: { facet: true } };

/** What the address says, the table, and its name in the menu. */
const GROUPINGS: readonly (readonly [string, string, string])[] = [
  ["op", "ops", t("by op")],
  ["scope", "scopes", t("by op, numbered scopes merged")],
  ["type", "types", t("by type")],
];

/** Columns of the other way to count are left out. */
function opsCounted(ops: Table, withIdle: boolean): Table {
  const hiddenColumns = withIdle ? ["share", "cumulative"] : ["share_with_idle", "cumulative_with_idle"];
  const shown = ops.withoutColumns(hiddenColumns);
  return withIdle ? shown : shown.withoutText("type", IDLE_TYPE);
}

export default function OpsPage(props: PageProps) {
  const { answer, store } = props;
  const [withIdle, setWithIdle] = useIdleSwitch();
  const [groupChoice, setGroupChoice] = useChoice("group");
  const [, choose] = useChoices();
  const tableId = GROUPINGS.find(([value]) => value === groupChoice)?.[1] ?? (answer.text("grouping") || "ops");
  const isGrouped = tableId !== "ops";
  const transfers = answer.table("transfers");
  const shares = useMemo(() => answer.table("shares").where({ idle: String(withIdle) }), [answer, withIdle]);
  const ops = useMemo(() => opsCounted(answer.table("ops"), withIdle), [answer, withIdle]);
  const shown = isGrouped ? answer.table(tableId) : ops;
  const [open, dialog] = useOpDialog(store);
  const linkOf = (row: Row) => {
    const type = shown.text(row, "type");
    if (tableId === "types") return { go: () => choose({ group: "op", "ops.only.type": type }) };
    if (type === IDLE_TYPE) return undefined;
    if (tableId === "scopes") {
      const find = shown.text(row, "name").split(MERGED_NUMBER).join(" ");
      return { go: () => choose({ group: "op", "ops.only.type": type, "ops.find": find }) };
    }
    const eventName = ops.text(row, "name");
    const name = ops.text(row, "instruction") || eventName;
    return { go: () => open({ table: ops, row, name, program: ops.text(row, "program_id"), eventName }) };
  };
  return (
    <>
      <PageHead page={props} />
      <ShareLists shares={shares} times="time_us" pick={(name) => choose({ group: "op", "ops.find": name })} />
      <Section
        title={shown.label}
        doc={t("Self times are summed over threads or streams, so they can exceed the capture's length.")}
        note={withIdle && !isGrouped ? t("with idle time") : undefined}
        controls={
          <>
            <Select
              label={t("Grouping")}
              value={GROUPINGS.find(([, table]) => table === tableId)?.[0] ?? ""}
              options={GROUPINGS.map(([value, , name]) => [value, name])}
              choose={setGroupChoice}
            />
            {!isGrouped && (
              <Switch
                label={t("Include idle time")}
                doc={t("Counts time without any op as an op named IDLE.")}
                on={withIdle}
                set={setWithIdle}
              />
            )}
          </>
        }
      >
        <Grid
          key={tableId}
          table={shown}
          specs={SPECS}
          hideEmpty
          name={exportName(props, tableId)}
          id={tableId}
          sort={isGrouped ? [{ id: "self_us", desc: true }] : []}
          link={linkOf}
        />
        {dialog}
      </Section>
      <TableSection
        page={props}
        id="transfers"
        specs={TRANSFER_SPECS}
        link={(row) => linkToOpEvents(store, transfers.text(row, "name"))}
      />
    </>
  );
}
