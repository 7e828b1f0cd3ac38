/** How a table is presented: units, widths, what is sorted and filtered. No DOM here. */

import {
  columnFilteringFeature,
  columnVisibilityFeature,
  constructTable,
  createFilteredRowModel,
  createSortedRowModel,
  type FilterFn,
  filterFn_equalsString,
  globalFilteringFeature,
  rowSortingFeature,
  type SortingState,
  sortFn_basic,
  sortFn_text,
  tableFeatures,
} from "@tanstack/table-core";
import { storeReactivityBindings } from "@tanstack/table-core/store-reactivity-bindings";
import {
  bytes,
  decimalsFor,
  fixed,
  inMilliseconds,
  memory,
  percent,
  type Scale,
  scaled,
  timeScale,
} from "../base/format";
import type { GridChoice } from "../base/gridcodec";
import type { Column, Row, Table, Value } from "../base/table";

/** What a page may say about a column beyond what the tool declares. */
export interface ColumnSpec {
  readonly label?: string;
  /** Draws the value as a bar behind the figure, as long as the value is against the column's largest. */
  readonly bar?: boolean;
  readonly hidden?: boolean;
  /** Offers the column's values as a filter. */
  readonly facet?: boolean;
  /** The column whose text says in full what this one says for short. */
  readonly full?: string;
}

/** Hides columns in which nothing is known, e.g. those of the device in a capture without one. */
export function withoutEmpty(table: Table, specs: Readonly<Record<string, ColumnSpec>>): Record<string, ColumnSpec> {
  const nothing: ReadonlySet<Value> = new Set<Value>([null, "", false]);
  const empty = table.columns.filter((_, place) => table.rows.every((row) => nothing.has(row[place] ?? null)));
  return { ...specs, ...Object.fromEntries(empty.map(({ id }) => [id, { ...specs[id], hidden: true }])) };
}

export interface Presented {
  readonly id: string;
  readonly label: string;
  /** The unit of the shown figures; "" where the cells carry it themselves. */
  readonly unit: string;
  readonly doc: string;
  readonly depends: readonly string[];
  readonly numeric: boolean;
  readonly facet: boolean;
  readonly hidden: boolean;
  /** Pixels that the content wants. */
  readonly width: number;
  readonly show: (value: Value) => string;
  /** Length of the bar, 0–1; null without one. */
  readonly fill: ((value: Value) => number) | null;
  /** Where in a row the text stands that says it in full; -1 where the cell does. */
  readonly full: number;
}

export interface PresentedTable {
  readonly columns: readonly Presented[];
  readonly rows: readonly Row[];
}

const TIMES: ReadonlySet<string> = new Set(["ps", "ns", "us", "ms", "s"]);
const CHARACTER = 6.7;
const SAMPLE = 300;

function largest(values: readonly Value[]): number {
  return values.reduce<number>(
    (most, value) => (typeof value === "number" ? Math.max(most, Math.abs(value)) : most),
    0,
  );
}

/** Times of a table share one unit, so that columns compare; rows differ by orders of magnitude, hence the decimals. */
function tableScale(table: Table): (unit: string) => Scale {
  const sizes = table.columns.map(({ unit }, place) => {
    const size = TIMES.has(unit) ? largest(table.rows.map((row) => row[place] ?? null)) : 0;
    return size * inMilliseconds(unit);
  });
  const common = timeScale(largest(sizes));
  return (unit) => ({ ...common, factor: inMilliseconds(unit) * common.factor, decimals: 3 });
}

type Show = (value: number) => string;

function numbers({ unit }: Column, values: readonly Value[], timeIn: (unit: string) => Scale): [string, Show] {
  const size = largest(values);
  if (TIMES.has(unit)) {
    const scale = timeIn(unit);
    return [scale.unit, (value) => scaled(value, scale)];
  }
  if (unit === "share") return ["%", (value) => percent(value).replace(/\s?%$/u, "")];
  if (unit === "bytes") return ["", bytes];
  if (unit === "iB") return ["", memory];
  const whole = values.every((value) => value === null || Number.isInteger(value));
  const decimals = whole ? 0 : Math.max(2, decimalsFor(size));
  return [unit === "percent" ? "%" : unit, (value) => fixed(value, decimals)];
}

interface Context {
  readonly place: number;
  readonly rows: readonly Row[];
  readonly spec: ColumnSpec;
  readonly timeIn: (unit: string) => Scale;
  /** Where in a row its text stands in full, or -1. */
  readonly full: number;
}

function presentColumn(column: Column, { place, rows, spec, timeIn, full }: Context): Presented {
  const values = rows.map((row) => row[place] ?? null);
  const numeric = column.kind === "number";
  const [unit, number] = numeric ? numbers(column, values, timeIn) : ["", String];
  const show = (value: Value) => {
    if (value === null || value === "") return "";
    if (typeof value === "boolean") return value ? "yes" : "–";
    return typeof value === "number" ? number(value) : value;
  };
  const size = largest(values);
  const label = spec.label ?? (column.label || column.id);
  const step = Math.max(1, Math.floor(rows.length / SAMPLE));
  const words = label.split(/\s/).map((word) => word.length);
  let characters = largest([...words, (label.length + unit.length) * 0.55]);
  for (let i = 0; i < values.length; i += step) characters = Math.max(characters, show(values[i] ?? null).length);
  return {
    id: column.id,
    label,
    unit,
    doc: column.doc,
    depends: column.depends,
    numeric,
    facet: spec.facet ?? false,
    hidden: spec.hidden ?? false,
    width: Math.round(Math.min(numeric ? 130 : 400, Math.max(44, characters * CHARACTER + 26))),
    show,
    full,
    fill: spec.bar && numeric ? (value) => (typeof value === "number" && size > 0 ? Math.abs(value) / size : 0) : null,
  };
}

export function present(table: Table, specs: Readonly<Record<string, ColumnSpec>> = {}): PresentedTable {
  const timeIn = tableScale(table);
  const columns = table.columns.map((column, place) => {
    const spec = specs[column.id] ?? {};
    const full = table.columns.findIndex(({ id }) => id === spec.full);
    return presentColumn(column, { place, rows: table.rows, spec, timeIn, full });
  });
  return { columns, rows: table.rows };
}

const features = tableFeatures({
  coreReactivityFeature: storeReactivityBindings(),
  columnFilteringFeature,
  globalFilteringFeature,
  rowSortingFeature,
  columnVisibilityFeature,
  filteredRowModel: createFilteredRowModel(),
  sortedRowModel: createSortedRowModel(),
});

/** Every word must occur somewhere in the row. */
const everyWord: FilterFn<typeof features, Row> = (row, _column, words: string) => {
  const text = row.original.map((value) => (typeof value === "string" ? value.toLowerCase() : "")).join("\n");
  return words
    .trim()
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
};

/** A headless table that sorts, filters and hides; its store tells of changes. */
export function gridModel({ columns, rows }: PresentedTable, sorting: SortingState) {
  const first = columns[0]?.id;
  return constructTable({
    features,
    data: rows,
    columns: columns.map((column, place) => ({
      id: column.id,
      accessorFn: (row: Row) => row[place] ?? undefined,
      sortFn: column.numeric ? sortFn_basic : sortFn_text,
      sortDescFirst: column.numeric,
      sortUndefined: "last" as const,
      filterFn: filterFn_equalsString,
    })),
    initialState: {
      sorting,
      columnVisibility: Object.fromEntries(columns.filter((column) => column.hidden).map(({ id }) => [id, false])),
    },
    // The filter looks at whole rows, so it must run once per row and not once per column.
    getColumnCanGlobalFilter: (column) => column.id === first,
    globalFilterFn: everyWord,
  });
}

export type GridModel = ReturnType<typeof gridModel>;

/** What the reader has chosen in the table as it stands. */
export function choiceOf(model: GridModel, { columns }: PresentedTable): GridChoice {
  const { sorting, globalFilter, columnFilters, columnVisibility } = model.store.state;
  const changed = columns.filter(({ id, hidden }) => (columnVisibility[id] === false) !== hidden);
  return {
    sort: sorting,
    find: String(globalFilter ?? "").trim(),
    only: Object.fromEntries(columnFilters.map(({ id, value }) => [id, String(value)])),
    columns: Object.fromEntries(changed.map(({ id, hidden }) => [id, hidden])),
  };
}

export function applyChoice(model: GridModel, { columns }: PresentedTable, choice: GridChoice): void {
  model.setSorting([...choice.sort]);
  model.setGlobalFilter(choice.find || undefined);
  model.setColumnFilters(Object.entries(choice.only).map(([id, value]) => ({ id, value })));
  model.setColumnVisibility(Object.fromEntries(columns.map(({ id, hidden }) => [id, choice.columns[id] ?? !hidden])));
}

/** The values of a column with how often each occurs, most frequent first. */
export function facetValues(rows: readonly Row[], place: number): [string, number][] {
  const counts = new Map<string, number>();
  for (const row of rows) {
    const value = String(row[place] ?? "");
    counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  return [...counts].sort((a, b) => b[1] - a[1]);
}
