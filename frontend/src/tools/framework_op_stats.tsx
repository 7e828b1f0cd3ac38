/** Which ops take the time, on the host and on the device, by op and by type? */

import { useMemo } from "preact/hooks";
import { type Row, Table, tableAt } from "../base/datatable";
import { percent } from "../base/format";
import { eventsOf } from "../state/links";
import { Grid } from "../view/grid";
import { type ColumnSpec, withoutEmpty } from "../view/gridmodel";
import { Pie, type Share } from "../view/pie";
import { Section } from "../view/section";
import { Switch } from "../view/switch";
import { Verdict } from "../view/verdict";
import { exportName, type PageProps } from "./page";

const SPECS: Readonly<Record<string, ColumnSpec>> = {
  host_or_device: { label: "Where", facet: true },
  type: { label: "Type", facet: true },
  operation: { label: "Operation" },
  occurrences: { label: "Count" },
  total_time: { label: "Total time" },
  avg_time: { label: "Average time" },
  total_self_time: { label: "Self time" },
  avg_self_time: { label: "Average self", hidden: true },
  device_total_self_time_percent: { label: "Self, device", bar: true },
  device_cumulative_total_self_time_percent: { label: "Cumulative, device" },
  host_total_self_time_percent: { label: "Self, host", bar: true },
  Host_cumulative_total_self_time_percent: { label: "Cumulative, host" },
  measured_flop_rate: { label: "GFLOP/s" },
  model_flop_rate: { label: "Model GFLOP/s" },
  measured_memory_bw: { label: "Memory GiB/s" },
  operational_intensity: { label: "FLOP/byte" },
  gpu_tensorcore_utilization: { label: "Tensor cores" },
  eager: { label: "Execution" },
  kernels: { label: "Kernels" },
  min_time: { hidden: true },
  max_time: { hidden: true },
};

function sharesOf(table: Table, where: string, column: "type" | "operation"): Share[] {
  const sums = new Map<string, number>();
  for (const row of table.rows) {
    if (table.text(row, "host_or_device") !== where) continue;
    const name = table.text(row, column);
    sums.set(name, (sums.get(name) ?? 0) + table.number(row, "total_self_time"));
  }
  return [...sums].map(([name, value]) => ({ name, value }));
}

const SUMMED = [
  "occurrences",
  "total_time",
  "total_self_time",
  "device_total_self_time_percent",
  "host_total_self_time_percent",
];

/** One row per type and place instead of one per op. */
export function groupByType(table: Table): Table {
  const groups = new Map<string, { where: string; type: string; ops: number; sums: number[] }>();
  for (const row of table.rows) {
    const [where, type] = [table.text(row, "host_or_device"), table.text(row, "type")];
    const key = `${where}\n${type}`;
    const group = groups.get(key) ?? { where, type, ops: 0, sums: SUMMED.map(() => 0) };
    group.ops += 1;
    group.sums = group.sums.map((sum, place) => sum + table.number(row, SUMMED[place] ?? ""));
    groups.set(key, group);
  }
  const column = (id: string) => {
    const { label, type, unit, doc } = table.column(id) ?? { label: id, type: "number", unit: "", doc: "" };
    return { id, label, type, p: { unit, doc } };
  };
  const ops = { id: "ops", label: "Ops", type: "number", p: { doc: "How many ops of this type there are." } };
  return new Table({
    cols: [column("host_or_device"), column("type"), ops, ...SUMMED.map(column)],
    rows: [...groups.values()].map(({ where, type, ops, sums }) => ({
      c: [where, type, ops, ...sums].map((v) => ({ v })),
    })),
  });
}

function headline(table: Table): string {
  const where = table.rows.some((row) => table.text(row, "host_or_device") === "Device") ? "Device" : "Host";
  const types = sharesOf(table, where, "type")
    .filter(({ name }) => name !== "IDLE")
    .sort((a, b) => b.value - a.value);
  const total = types.reduce((sum, { value }) => sum + value, 0);
  const [first] = types;
  if (!first || total <= 0) return "";
  const three = types.slice(0, 3).reduce((sum, { value }) => sum + value, 0);
  const rest = types.length > 3 ? `; the three largest types take ${percent(three / total, 0)}` : "";
  return `${first.name} takes ${percent(first.value / total, 0)} of the op time on the ${where.toLowerCase()}${rest}.`;
}

function Pies({ table }: { table: Table }) {
  const pies = useMemo(
    () =>
      (["Device", "Host"] as const).flatMap((where) =>
        (["type", "operation"] as const).map((column) => ({
          title: `On the ${where.toLowerCase()}, by ${column === "type" ? "type" : "op"}`,
          shares: sharesOf(table, where, column),
        })),
      ),
    [table],
  );
  return (
    <div class="pies">
      {pies
        .filter(({ shares }) => shares.some(({ value }) => value > 0))
        .map((pie) => (
          <Pie key={pie.title} {...pie} />
        ))}
    </div>
  );
}

export default function OpsPage(props: PageProps) {
  const { data, store } = props;
  const { options } = store.view.value;
  const idle = options.idle === "in";
  const grouped = options.group === "type";
  const table = useMemo(() => tableAt(data, idle ? 0 : 1), [data, idle]);
  const shown = useMemo(() => (grouped ? groupByType(table) : table), [table, grouped]);
  const specs = useMemo(() => withoutEmpty(shown, SPECS), [shown]);
  const set = (name: string, value: string) => store.go({ options: { ...store.view.peek().options, [name]: value } });
  const isIdle = (row: Row) => table.text(row, "type") === "IDLE";
  const sentence = headline(table);
  return (
    <>
      {sentence && <Verdict level="info" text={sentence} />}
      <Pies table={table} />
      <Section
        title={grouped ? "Op types" : "Ops"}
        doc="Self times are sums over all threads or streams, so they can exceed the length of the capture."
        note={idle && table.rows.some(isIdle) ? "with idle time" : undefined}
        controls={
          <>
            <Switch
              label="Group by type"
              doc="One row per type of op instead of one per op."
              on={grouped}
              set={(on) => set("group", on ? "type" : "")}
            />
            <Switch
              label="Include idle time"
              doc="Counts the time in which nothing ran as an op named IDLE."
              on={idle}
              set={(on) => set("idle", on ? "in" : "")}
            />
          </>
        }
      >
        <Grid
          key={grouped ? "type" : "op"}
          table={shown}
          specs={specs}
          name={exportName(props, grouped ? "types" : "ops")}
          id={grouped ? "types" : "ops"}
          sort={grouped ? [{ id: "total_self_time", desc: true }] : []}
          link={(row) => (grouped || isIdle(row) ? undefined : eventsOf(store, table.text(row, "operation")))}
        />
      </Section>
    </>
  );
}
