/** Which ops take the time, on the host and on the device, by op and by type? */

import { useMemo } from "preact/hooks";
import { type Row, Table, tableAt } from "../base/datatable";
import { percent } from "../base/format";
import { Grid } from "../view/grid";
import { type ColumnSpec, withoutEmpty } from "../view/gridmodel";
import { Pie, type Share } from "../view/pie";
import { Section } from "../view/section";
import { Verdict } from "../view/verdict";
import { exportName, type PageProps } from "./page";

const SPECS: Readonly<Record<string, ColumnSpec>> = {
  rank: { label: "Rank" },
  host_or_device: { label: "Where", facet: true, doc: "Whether the op ran on the host or on the device." },
  type: { label: "Type", facet: true, doc: "Kind of the op; ops of one type do the same computation." },
  operation: { label: "Operation", doc: "Name of the op in the program." },
  occurrences: { label: "Count", doc: "How often the op ran." },
  ops: { label: "Ops", doc: "How many ops of this type there are." },
  total_time: { unit: "us", label: "Total time", doc: "Time of all executions, with what they called." },
  avg_time: { unit: "us", label: "Average time", doc: "Total time divided by the count." },
  total_self_time: { unit: "us", label: "Self time", doc: "Time of all executions without what they called." },
  avg_self_time: { unit: "us", label: "Average self", doc: "Self time divided by the count." },
  device_total_self_time_percent: {
    unit: "percent",
    label: "Self, device",
    bar: true,
    doc: "Self time as a share of all self time on the device.",
  },
  device_cumulative_total_self_time_percent: {
    unit: "percent",
    label: "Cumulative, device",
    doc: "The same, summed over this row and all before it in rank.",
  },
  host_total_self_time_percent: {
    unit: "percent",
    label: "Self, host",
    bar: true,
    doc: "Self time as a share of all self time on the host.",
  },
  Host_cumulative_total_self_time_percent: {
    unit: "percent",
    label: "Cumulative, host",
    doc: "The same, summed over this row and all before it in rank.",
  },
  measured_flop_rate: { label: "GFLOP/s", doc: "Floating-point operations divided by the op's own time." },
  model_flop_rate: { label: "Model GFLOP/s", doc: "The same by the cost model of the compiler." },
  measured_memory_bw: { label: "Memory GiB/s", doc: "Bytes read and written, divided by the op's own time." },
  operational_intensity: { label: "FLOP/byte", doc: "Floating-point operations per byte moved." },
  gpu_tensorcore_utilization: {
    unit: "percent",
    label: "Tensor cores",
    doc: "Share of the op's kernel time that ran on tensor cores.",
  },
  bound_by: { label: "Bound by", doc: "What limits the op: computing, or a kind of memory." },
  eager: { label: "Execution", doc: "Eager, or part of a tf.function." },
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
  const text = (id: string) => ({ id, label: id, type: "string" });
  const number = (id: string) => ({ id, label: table.column(id)?.label ?? id, type: "number" });
  return new Table({
    cols: [text("host_or_device"), text("type"), number("ops"), ...SUMMED.map(number)],
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

interface SwitchProps {
  readonly label: string;
  readonly doc: string;
  readonly on: boolean;
  readonly set: (on: boolean) => void;
}

function Switch({ label, doc, on, set }: SwitchProps) {
  return (
    <label data-tip={doc}>
      <input type="checkbox" checked={on} onChange={(event) => set(event.currentTarget.checked)} /> {label}
    </label>
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
          sort={grouped ? [{ id: "total_self_time", desc: true }] : []}
        />
      </Section>
    </>
  );
}
