/** Tables for tests, written shortly. */

import { type Column, type Row, Table } from "../src/base/table";

export function column(id: string, kind: Column["kind"] = "number", more: Partial<Column> = {}): Column {
  return { id, label: id, kind, unit: "", doc: "", depends: [], ...more };
}

export function table(columns: readonly Column[], rows: readonly Row[]): Table {
  return new Table(columns, rows);
}
