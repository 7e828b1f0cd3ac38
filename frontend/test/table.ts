/** Tables and answers for tests, written shortly. */

import type * as schema from "../src/base/schema";
import { Answer, type Column, type Row, Table } from "../src/base/table";

export function column(id: string, kind: Column["kind"] = "number", more: Partial<Column> = {}): Column {
  return { id, label: id, kind, unit: "", doc: "", depends: [], ...more };
}

export function table(columns: readonly Column[], rows: readonly Row[]): Table {
  return new Table(columns, rows);
}

/** An answer of facts in ms, or in their own words, and of tables by the values of their columns. */
export function answer(
  facts: Readonly<Record<string, number | string | null>>,
  tables: Readonly<Record<string, Readonly<Record<string, (string | number | boolean | null)[]>>>> = {},
): Answer {
  const kind = (value: unknown) =>
    typeof value === "string" ? "string" : typeof value === "boolean" ? "boolean" : "number";
  const fact = (value: number | string | null) => ({ ...column("", kind(value), { unit: "ms" }), value });
  const made = (columns: Readonly<Record<string, schema.Column["values"]>>): schema.Table => ({
    label: "",
    doc: "",
    rows: Object.values(columns)[0]?.length ?? 0,
    columns: Object.entries(columns).map(([id, values]) => ({ ...column(id, kind(values[0])), values })),
  });
  return new Answer({
    tool: "t",
    headline: null,
    facts: Object.fromEntries(Object.entries(facts).map(([id, value]) => [id, fact(value)])),
    tables: Object.fromEntries(Object.entries(tables).map(([id, columns]) => [id, made(columns)])),
    notes: [],
  });
}
