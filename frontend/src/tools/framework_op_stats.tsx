/** Which ops take the time, on the host and on the device, by op and by type? */

import { useMemo } from "preact/hooks";
import type { Row, Table } from "../base/table";
import { eventsOf } from "../state/links";
import { Grid } from "../view/grid";
import { type ColumnSpec, withoutEmpty } from "../view/gridmodel";
import { useChoices, useKept } from "../view/kept";
import { Pie } from "../view/pie";
import { Section } from "../view/section";
import { Switch } from "../view/switch";
import { Verdict } from "../view/verdict";
import { exportName, type PageProps } from "./page";

const IDLE = "IDLE";
const SPECS: Readonly<Record<string, ColumnSpec>> = {
  place: { facet: true },
  type: { facet: true },
  share: { bar: true },
  share_with_idle: { bar: true },
  self_average_us: { hidden: true },
  min_us: { hidden: true },
  max_us: { hidden: true },
};

/** Columns of the other way to count are left out. */
function counted(ops: Table, idle: boolean): Table {
  const left = idle ? ["share", "cumulative"] : ["share_with_idle", "cumulative_with_idle"];
  const shown = ops.pick(ops.columns.map(({ id }) => id).filter((id) => !left.includes(id)));
  return idle ? shown : shown.filter((row) => shown.text(row, "type") !== IDLE);
}

function Pies({ types, ops }: { types: Table; ops: Table }) {
  const [, choose] = useChoices();
  const pies = useMemo(
    () =>
      ["Device", "Host"].flatMap((place) =>
        (
          [
            ["type", types],
            ["name", ops],
          ] as const
        ).map(([column, table]) => ({
          title: `On the ${place.toLowerCase()}, by ${column === "type" ? "type" : "op"}`,
          shares: table.rows
            .filter((row) => table.text(row, "place") === place)
            .map((row) => ({ name: table.text(row, column), value: table.length(row, "self_us") })),
        })),
      ),
    [types, ops],
  );
  return (
    <div class="pies">
      {pies
        .filter(({ shares }) => shares.some(({ value }) => value > 0))
        .map((pie) => (
          <Pie key={pie.title} {...pie} pick={(name) => choose({ group: "", "ops.find": name })} />
        ))}
    </div>
  );
}

export default function OpsPage(props: PageProps) {
  const { answer, store } = props;
  const [counting, count] = useKept("idle");
  const [grouping, group] = useKept("group");
  const idle = counting === "in";
  const grouped = grouping === "type";
  const types = answer.table("types");
  const ops = useMemo(() => counted(answer.table("ops"), idle), [answer, idle]);
  const shown = grouped ? types : ops;
  const specs = useMemo(() => withoutEmpty(shown, SPECS), [shown]);
  const isIdle = (row: Row) => ops.text(row, "type") === IDLE;
  return (
    <>
      {answer.headline && <Verdict {...answer.headline} />}
      <Pies types={types} ops={ops} />
      <Section
        title={shown.label}
        doc="Self times are sums over all threads or streams, so they can exceed the length of the capture."
        note={idle && !grouped && ops.rows.some(isIdle) ? "with idle time" : undefined}
        controls={
          <>
            <Switch
              label="Group by type"
              doc="One row per type of op instead of one per op."
              on={grouped}
              set={(on) => group(on ? "type" : "")}
            />
            {!grouped && (
              <Switch
                label="Include idle time"
                doc="Counts the time in which nothing ran as an op named IDLE."
                on={idle}
                set={(on) => count(on ? "in" : "")}
              />
            )}
          </>
        }
      >
        <Grid
          key={grouped ? "type" : "op"}
          table={shown}
          specs={specs}
          name={exportName(props, grouped ? "types" : "ops")}
          id={grouped ? "types" : "ops"}
          sort={grouped ? [{ id: "self_us", desc: true }] : []}
          link={(row) => (grouped || isIdle(row) ? undefined : eventsOf(store, ops.text(row, "name")))}
        />
      </Section>
    </>
  );
}
