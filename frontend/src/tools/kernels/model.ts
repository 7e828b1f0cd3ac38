/** Kernel rows summed by kernel or by op, and shares of their time. */

import { type CellValue, type RawColumn, type Row, Table } from "../../base/datatable";
import { summarize } from "../../base/statistics";
import type { Share } from "../../view/pie";

export type Grouping = "kernel_name" | "op_name";

/** The columns that people look at first come first; all others follow as they are. */
const FIRST = [
  "rank",
  "kernel_name",
  "total_duration_us",
  "share",
  "occurrences",
  "avg_duration_us",
  "op_name",
  "is_op_tensor_core_eligible",
  "is_kernel_using_tensor_core",
  "library",
  "dtype",
];

function raw(table: Table, id: string): RawColumn {
  const { label, type, unit, doc } = table.column(id) ?? { label: id, type: "number", unit: "", doc: "" };
  return { id, label, type, p: { unit, doc } };
}

/** The same table with its columns in the order of the page. */
export function arranged(table: Table): Table {
  const ids = [
    ...FIRST.filter((id) => table.has(id)),
    ...table.columns.map(({ id }) => id).filter((id) => !FIRST.includes(id)),
  ];
  return new Table({
    cols: ids.map((id) => raw(table, id)),
    rows: table.rows.map((row) => ({ c: ids.map((id) => ({ v: table.cell(row, id) })) })),
  });
}

interface Group {
  readonly name: string;
  readonly members: Row[];
}

function grouped(table: Table, by: Grouping): Group[] {
  const groups = new Map<string, Group>();
  for (const row of table.rows) {
    const name = table.text(row, by);
    const group = groups.get(name) ?? { name, members: [] };
    group.members.push(row);
    groups.set(name, group);
  }
  return [...groups.values()];
}

/** One row per kernel, or one per op, instead of one per kernel, size and op. */
export function groupBy(table: Table, by: Grouping): Table {
  const other: Grouping = by === "kernel_name" ? "op_name" : "kernel_name";
  const rows = grouped(table, by).map(({ name, members }): CellValue[] => {
    const sum = (id: string) => members.reduce((total, row) => total + table.number(row, id), 0);
    const range = (id: string) => summarize(members.map((row) => table.number(row, id)));
    const [total, count] = [sum("total_duration_us"), sum("occurrences")];
    const used = members
      .filter((row) => table.cell(row, "is_kernel_using_tensor_core") === true)
      .reduce((time, row) => time + table.number(row, "total_duration_us"), 0);
    const kinds = new Set(members.map((row) => table.text(row, other)));
    const [{ low }, { high }] = [range("min_duration_us"), range("max_duration_us")];
    const one = (id: string) => [...new Set(members.map((row) => table.text(row, id)))].filter(Boolean).join(", ");
    const shown = [name, total, sum("share"), count, total / Math.max(1, count), low, high];
    return [...shown, total > 0 ? used / total : 0, kinds.size, one("library"), one("dtype")];
  });
  const added = (id: string, label: string, unit: string, doc: string) => ({
    id,
    label,
    type: "number",
    p: { unit, doc },
  });
  return new Table({
    cols: [
      raw(table, by),
      ...["total_duration_us", "share", "occurrences", "avg_duration_us", "min_duration_us", "max_duration_us"].map(
        (id) => raw(table, id),
      ),
      added("used", "On tensor cores", "percent", "Share of this time that ran on tensor cores."),
      added("others", other === "op_name" ? "Ops" : "Kernels", "", "How many different ones."),
      raw(table, "library"),
      raw(table, "dtype"),
    ],
    rows: rows.map((cells) => ({ c: cells.map((v) => ({ v })) })),
  });
}

/** Time by the text of a column. */
export function sharesBy(table: Table, nameOf: (row: Row) => string): Share[] {
  const sums = new Map<string, number>();
  for (const row of table.rows) {
    const name = nameOf(row);
    sums.set(name, (sums.get(name) ?? 0) + table.number(row, "total_duration_us"));
  }
  return [...sums].map(([name, value]) => ({ name, value }));
}

/** What a kernel has to do with tensor cores, in words. */
export function tensorCoreUse(table: Table, row: Row): string {
  const used = table.cell(row, "is_kernel_using_tensor_core");
  if (used === true) return "On tensor cores";
  if (used === null) return "Not known";
  return table.cell(row, "is_op_tensor_core_eligible") === true
    ? "Not used by a matrix product or convolution"
    : "No use for them";
}
