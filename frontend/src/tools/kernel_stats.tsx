/** Which kernels take the GPU's time, and do they use its tensor cores? */

import { useMemo } from "preact/hooks";
import { isRawTable, type Row, Table } from "../base/datatable";
import { time } from "../base/format";
import { eventsOf, TIMELINE } from "../state/links";
import { Grid } from "../view/grid";
import { type ColumnSpec, withoutEmpty } from "../view/gridmodel";
import { Pie } from "../view/pie";
import { Section } from "../view/section";
import { level, Verdict } from "../view/verdict";
import { arranged, type Grouping, groupBy, sharesBy, tensorCoreUse } from "./kernels/model";
import { exportName, linkTo, type PageProps } from "./page";

const SPECS: Readonly<Record<string, ColumnSpec>> = {
  kernel_name: { label: "Kernel" },
  registers_per_thread: { label: "Registers" },
  shmem_bytes: { label: "Shared memory, B" },
  block_dim: { label: "Block" },
  grid_dim: { label: "Grid" },
  occupancy_pct: { label: "Occupancy %" },
  is_op_tensor_core_eligible: { label: "Tensor core possible", facet: true },
  is_kernel_using_tensor_core: { label: "Tensor core used", facet: true },
  op_name: { label: "Op" },
  occurrences: { label: "Count" },
  total_duration_us: { label: "Total" },
  avg_duration_us: { label: "Average" },
  min_duration_us: { label: "Least" },
  max_duration_us: { label: "Most" },
  share: { bar: true },
  library: { facet: true },
  dtype: { facet: true },
  generation: { hidden: true },
  occupancy_min_pct: { hidden: true },
  occupancy_max_pct: { hidden: true },
};

const GROUPINGS: readonly (readonly [string, string])[] = [
  ["", "by kernel and op"],
  ["kernel_name", "by kernel"],
  ["op_name", "by op"],
];

function specsFor(table: Table): Readonly<Record<string, ColumnSpec>> {
  const { is_op_tensor_core_eligible, is_kernel_using_tensor_core } = SPECS;
  // "No" everywhere is an answer here, not an empty column.
  return { ...withoutEmpty(table, SPECS), is_op_tensor_core_eligible, is_kernel_using_tensor_core } as Record<
    string,
    ColumnSpec
  >;
}

function beside(data: unknown, name: string): Table {
  const part = typeof data === "object" && data !== null ? (data as Record<string, unknown>)[name] : undefined;
  return new Table(isRawTable(part) ? part : {});
}

function Pies({ table }: { table: Table }) {
  const pies = useMemo(
    () => [
      {
        title: "Kernels with the highest total time",
        shares: sharesBy(table, (row) => table.text(row, "kernel_name")),
      },
      {
        title: "Tensor cores",
        shares: table.property("tensor_cores") === "no" ? [] : sharesBy(table, (row) => tensorCoreUse(table, row)),
      },
      {
        title: "Type of the arithmetic",
        shares: sharesBy(table, (row) => table.text(row, "dtype") || "Not told by the name"),
      },
      { title: "Library", shares: sharesBy(table, (row) => table.text(row, "library") || "Not recognised") },
    ],
    [table],
  );
  return (
    <div class="pies">
      {pies
        .filter(({ shares }) => shares.length > 0)
        .map((pie) => (
          <Pie key={pie.title} {...pie} />
        ))}
    </div>
  );
}

function Kernels({ table, page }: { table: Table; page: PageProps }) {
  const { store } = page;
  const by = store.view.value.options.by ?? "";
  const grouping = by === "kernel_name" || by === "op_name" ? (by as Grouping) : null;
  const shown = useMemo(() => (grouping ? groupBy(table, grouping) : arranged(table)), [table, grouping]);
  const specs = useMemo(() => specsFor(shown), [shown]);
  const timeline = linkTo(store, TIMELINE);
  const launches = (row: Row) => eventsOf(store, shown.text(row, shown.has("kernel_name") ? "kernel_name" : "op_name"));
  return (
    <Section
      title="Kernels"
      doc="One row per kernel, launch size and op, over all GPUs shown. Click a row to find its launches on the timeline."
      note={timeline && "click a row for its launches on the timeline"}
      controls={
        <select
          aria-label="Grouping"
          value={by}
          onChange={(event) => store.go({ options: { ...store.view.peek().options, by: event.currentTarget.value } })}
        >
          {GROUPINGS.map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      }
    >
      <Grid
        key={by}
        table={shown}
        specs={specs}
        name={exportName(page, "kernels")}
        sort={grouping ? [{ id: "total_duration_us", desc: true }] : []}
        id={by || "kernels"}
        link={launches}
      />
    </Section>
  );
}

export default function KernelPage(props: PageProps) {
  const { data } = props;
  const tables = useMemo(
    () => ({
      kernels: new Table(isRawTable(data) ? data : {}),
      copies: beside(data, "copies"),
      devices: beside(data, "devices"),
    }),
    [data],
  );
  const { kernels, copies, devices } = tables;
  const total = kernels.figure("kernel_time_us") ?? 0;
  const note = `${kernels.property("launches")} launches, ${time(total, "us")} in kernels.`;
  return (
    <>
      <Verdict
        level={level(kernels.property("verdict_level"))}
        text={`${kernels.property("verdict")} ${note}`}
        next={linkTo(props.store, "framework_op_stats")}
      />
      <Pies table={kernels} />
      <Kernels table={kernels} page={props} />
      {copies.rows.length > 0 && (
        <Section
          title="Copies"
          doc="Copies between host and devices and between devices, as the devices recorded them."
        >
          <Grid table={copies} specs={withoutEmpty(copies, {})} name={exportName(props, "copies")} id="copies" />
        </Section>
      )}
      <Section title="Devices" doc="What the GPUs of this capture can do at best.">
        <Grid table={devices} specs={withoutEmpty(devices, {})} name={exportName(props, "devices")} id="devices" />
      </Section>
    </>
  );
}
