/** How a table is presented: units, widths, what is sorted and filtered. No DOM here. */

import {
  columnFilteringFeature,
  columnVisibilityFeature,
  constructTable,
  createFilteredRowModel,
  createSortedRowModel,
  type FilterFn,
  globalFilteringFeature,
  rowSortingFeature,
  type SortFn,
  type SortingState,
  tableFeatures,
} from "@tanstack/table-core";
import { storeReactivityBindings } from "@tanstack/table-core/store-reactivity-bindings";
import { clamp } from "../base/clamp";
import { largest } from "../base/extent";
import {
  decimalsFor,
  formatBytes,
  formatFixed,
  formatMemory,
  formatPercent,
  formatScaled,
  isTimeUnit,
  msPer,
  type Scale,
  timeScale,
} from "../base/format";
import type { GridChoice } from "../base/gridcodec";
import { t } from "../base/messages";
import type { Column, Row, Table, Value } from "../base/table";
import { breakableParts, widthInLetters, widthOfTwoLines } from "../base/text";
import { MATCH_LABELS } from "./matchlabels";

/** What a page may say about a column beyond what the tool declares. */
export interface ColumnSpec {
  /** Draws the value as a bar behind the figure, as long as the value is against the column's largest. */
  readonly bar?: boolean;
  /** True or false whatever it holds; otherwise as the grid hides empty columns. */
  readonly hidden?: boolean;
  /** Takes the place of the column's own. */
  readonly label?: string;
  /** Offers the column's values as a filter. */
  readonly facet?: boolean;
  /** The column whose text says in full what this one says for short. */
  readonly full?: string;
  /** What its values are called, which are ids. */
  readonly names?: Readonly<Record<string, string>>;
  /** Holds paths of files, of which the last part is shown. */
  readonly path?: boolean;
}

export type ColumnSpecs = Readonly<Record<string, ColumnSpec>>;

/** One spec for several columns, whose ids are separated by blanks. */
export function columnSpecs(ids: string, spec: ColumnSpec): ColumnSpecs {
  return Object.fromEntries(ids.split(" ").map((id) => [id, spec]));
}

export interface PresentedColumn {
  readonly id: string;
  readonly label: string;
  /** The unit of the shown figures; "" where the cells carry it themselves. */
  readonly unit: string;
  readonly doc: string;
  readonly depends: readonly string[];
  readonly numeric: boolean;
  /** Whether it is a difference, shown with its sign: what is more is worse. */
  readonly signed: boolean;
  /** The values to choose from with how often each occurs, most frequent first; none where nothing is offered. */
  readonly choices: readonly (readonly [string, number])[];
  readonly hidden: boolean;
  /** Pixels that the content wants. */
  readonly widthPx: number;
  readonly show: (value: Value) => string;
  /** Length of the bar, 0–1; null without one. */
  readonly fill: ((value: Value) => number) | null;
  /** Where in a row the text stands that says it in full; -1 where the cell does. */
  readonly full: number;
}

export interface PresentedTable {
  readonly columns: readonly PresentedColumn[];
  /** Those to sort and filter here: none of a table that is here in part. */
  readonly rows: readonly Row[];
}

/** How a baseline's rows were found is offered as a filter wherever it stands. */
const DEFAULT_SPECS: ColumnSpecs = { match: { facet: true, names: MATCH_LABELS } };

/** Mean width of a character of the grid's font. */
const CHARACTER_PX = 6.7;
/** So many rows, evenly spread, say how wide a column is. */
const MEASURED_ROWS = 300;

/** The largest number of a column: of all rows, wherever they are. */
function columnMagnitude({ summary }: Column, values: () => readonly Value[]): number {
  return summary
    ? summary.largest
    : largest(values().map((value) => (typeof value === "number" ? Math.abs(value) : 0)));
}

/**
 * Times of a table share one unit, so that columns compare; rows differ by orders of magnitude, hence the decimals.
 * Columns that are hidden at first do not count: a moment late in the capture would make seconds of all durations.
 */
function tableScale(table: Table, specs: ColumnSpecs): (unit: string) => Scale {
  const sizes = table.columns.map((column, place) => {
    const counts = isTimeUnit(column.unit) && !specOf(column, specs).hidden;
    const size = counts ? columnMagnitude(column, () => table.rows.map((row) => row[place] ?? null)) : 0;
    return size * msPer(column.unit);
  });
  const common = timeScale(largest(sizes));
  return (unit) => ({ ...common, factor: msPer(unit) * common.factor, decimals: 3 });
}

/** Digits behind the point: two, fewer where the largest figure has four and more before it, more where it is small. */
function decimalsOfColumn(size: number): number {
  return size >= 1000 ? Math.max(0, decimalsFor(size / 100)) : Math.max(2, decimalsFor(size));
}

type NumberFormat = (value: number) => string;

function unitAndFormat(
  column: Column,
  values: readonly Value[],
  timeIn: (unit: string) => Scale,
): [string, NumberFormat] {
  const { unit, summary, signed } = column;
  if (isTimeUnit(unit)) {
    const scale = timeIn(unit);
    // Of a difference that is too small for the decimals, not even the sign is known.
    return [
      scale.unit,
      (value) => (signed ? formatFixed(value * scale.factor, scale.decimals) : formatScaled(value, scale)),
    ];
  }
  if (unit === "share") return ["%", (value) => formatPercent(value).replace(/\s?%$/u, "")];
  if (unit === "bytes") return ["", formatBytes];
  if (unit === "iB") return ["", formatMemory];
  const whole = summary?.whole ?? values.every((value) => value === null || Number.isInteger(value));
  const scale = { unit, factor: 1, decimals: whole ? 0 : decimalsOfColumn(columnMagnitude(column, () => values)) };
  return [unit === "percent" ? "%" : unit, (value) => formatScaled(value, scale)];
}

/** The values of a column with how often each occurs, most frequent first. */
function valueCounts({ summary }: Column, values: readonly Value[]): [string, number][] {
  if (summary) return summary.choices.map(({ value, rows }) => [value, rows]);
  const counts = new Map<string, number>();
  for (const value of values) {
    const text = String(value ?? "");
    counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  return [...counts].sort((a, b) => b[1] - a[1]);
}

interface ColumnContext {
  readonly place: number;
  readonly rows: readonly Row[];
  readonly spec: ColumnSpec;
  readonly timeIn: (unit: string) => Scale;
  readonly hideEmpty: boolean;
  /** Where in a row its text stands in full, or -1. */
  readonly full: number;
}

/** Whether a figure is not rounded to nothing. */
export function hasSize(text: string): boolean {
  return /[1-9]/.test(text);
}

const EMPTY_VALUES: ReadonlySet<Value> = new Set<Value>([null, "", false]);

function presentColumn(column: Column, { place, rows, spec, timeIn, hideEmpty, full }: ColumnContext): PresentedColumn {
  const values = rows.map((row) => row[place] ?? null);
  const numeric = column.kind === "number";
  const [unit, number] = numeric ? unitAndFormat(column, values, timeIn) : ["", String];
  const show = (value: Value) => {
    if (value === null || value === "") return "";
    if (typeof value === "boolean") return value ? t("yes") : "–";
    if (typeof value === "string" && spec.names) return spec.names[value] ?? value;
    if (typeof value === "string") return spec.path ? value.slice(value.lastIndexOf("/") + 1) : value;
    const text = number(value);
    return column.signed && value > 0 && hasSize(text) ? `+${text}` : text;
  };
  const size = columnMagnitude(column, () => values);
  const known = column.summary?.known ?? !values.every((value) => EMPTY_VALUES.has(value));
  const label = spec.label ?? (column.label || column.id);
  const step = Math.max(1, Math.floor(rows.length / MEASURED_ROWS));
  let characters = widthOfTwoLines([...breakableParts(label), unit]);
  for (let i = 0; i < values.length; i += step)
    characters = Math.max(characters, widthInLetters(show(values[i] ?? null)));
  return {
    id: column.id,
    label,
    unit,
    doc: column.doc,
    depends: column.depends,
    numeric,
    signed: column.signed ?? false,
    choices: spec.facet ? valueCounts(column, values) : [],
    hidden: spec.hidden ?? (hideEmpty && !known),
    widthPx: Math.round(clamp(characters * CHARACTER_PX + (numeric ? 26 : 38), 44, numeric ? 130 : 400)),
    show,
    full: spec.path ? place : full,
    fill: spec.bar && numeric ? (value) => (typeof value === "number" && size > 0 ? Math.abs(value) / size : 0) : null,
  };
}

function specOf({ id }: Column, specs: ColumnSpecs): ColumnSpec {
  return specs[id] ?? DEFAULT_SPECS[id] ?? {};
}

/** With `hideEmpty`, columns in which nothing is known are hidden, e.g. those of the device in a capture without one. */
export function presentTable(table: Table, specs: ColumnSpecs = {}, hideEmpty = false): PresentedTable {
  const timeIn = tableScale(table, specs);
  const columns = table.columns.map((column, place) => {
    const spec = specOf(column, specs);
    const full = table.columns.findIndex(({ id }) => id === spec.full);
    return presentColumn(column, { place, rows: table.rows, spec, timeIn, hideEmpty, full });
  });
  return { columns, rows: table.rest ? [] : table.rows };
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

// How rows are chosen and sorted: the server does the same with tables that are here in part (tools/answers/rows.py), and
// both are held to tests/rows.json.

/** Every word must occur somewhere in the row's texts, whatever the case. */
const containsAllWords: FilterFn<typeof features, Row> = (row, _column, words: string) => {
  const text = row.original.map((value) => (typeof value === "string" ? value.toLowerCase() : "")).join("\n");
  return words
    .toLowerCase()
    .split(/[ \t\r\n]+/)
    .every((word) => text.includes(word));
};

const isEqual: FilterFn<typeof features, Row> = (row, column, wanted: string) =>
  String(row.getValue(column) ?? "") === wanted;

/** Numbers by size, false before true, texts in small letters; what is unknown stands last before this is asked. */
const compareAscending: SortFn<typeof features, Row> = (one, other, column) => {
  const [a, b] = [one, other].map((row) => {
    const value = row.getValue(column) as NonNullable<Value>;
    return typeof value === "string" ? value.toLowerCase() : value;
  }) as [NonNullable<Value>, NonNullable<Value>];
  return a === b ? 0 : a > b ? 1 : -1;
};

/** A headless table that sorts, filters and hides; its store tells of changes. */
export function createGridModel({ columns, rows }: PresentedTable, sorting: SortingState) {
  const first = columns[0]?.id;
  return constructTable({
    features,
    data: rows,
    columns: columns.map((column, place) => ({
      id: column.id,
      accessorFn: (row: Row) => row[place] ?? undefined,
      sortFn: compareAscending,
      sortDescFirst: column.numeric,
      sortUndefined: "last" as const,
      filterFn: isEqual,
    })),
    initialState: {
      sorting,
      columnVisibility: Object.fromEntries(columns.filter((column) => column.hidden).map(({ id }) => [id, false])),
    },
    // The filter looks at whole rows, so it must run once per row and not once per column.
    getColumnCanGlobalFilter: (column) => column.id === first,
    globalFilterFn: containsAllWords,
  });
}

export type GridModel = ReturnType<typeof createGridModel>;

/** What the reader has chosen in the table as it stands. */
export function gridChoiceOf(model: GridModel, { columns }: PresentedTable): GridChoice {
  const { sorting, globalFilter, columnFilters, columnVisibility } = model.store.state;
  const changed = columns.filter(({ id, hidden }) => (columnVisibility[id] === false) !== hidden);
  return {
    sort: sorting,
    find: String(globalFilter ?? "").trim(),
    only: Object.fromEntries(columnFilters.map(({ id, value }) => [id, String(value)])),
    columns: Object.fromEntries(changed.map(({ id, hidden }) => [id, hidden])),
  };
}

export function applyGridChoice(model: GridModel, { columns }: PresentedTable, choice: GridChoice): void {
  model.setSorting([...choice.sort]);
  model.setGlobalFilter(choice.find || undefined);
  model.setColumnFilters(Object.entries(choice.only).map(([id, value]) => ({ id, value })));
  model.setColumnVisibility(Object.fromEntries(columns.map(({ id, hidden }) => [id, choice.columns[id] ?? !hidden])));
}
