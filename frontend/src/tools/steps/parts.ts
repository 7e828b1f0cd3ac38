/** The parts of steps in any table that has a column for each of them, named `{part}_ms`. */

import { PARTS, part } from "../../base/parts";
import type { Row, Table } from "../../base/table";
import type { Piece } from "../../view/stackbar";
import type { Layer } from "../../view/stacked";

/** The parts in which any row spends time, in the order of all pages. */
export function partsIn(table: Table): string[] {
  return PARTS.map(({ id }) => id).filter((id) => table.rows.some((row) => table.length(row, `${id}_ms`) > 0));
}

/** Columns of parts in which no row spends time. */
export function partsWithout(table: Table): string[] {
  const used = new Set(partsIn(table));
  return PARTS.filter(({ id }) => !used.has(id)).map(({ id }) => `${id}_ms`);
}

/** The used parts as layers of stacked columns, one per row. */
export function layersOf(table: Table): Layer[] {
  return partsIn(table).map((id) => layer(table, id));
}

/** The column of a part, drawn as this one or as another. */
export function layer(table: Table, id: string, as = id): Layer {
  return {
    part: part(as),
    label: table.column(`${id}_ms`)?.label ?? id,
    values: table.rows.map((row) => table.length(row, `${id}_ms`)),
  };
}

/** The used parts as pieces of one row's bar. */
export function piecesOf(table: Table, row: Row): Piece[] {
  return partsIn(table).map((id) => {
    const { label = id, doc = "" } = table.column(`${id}_ms`) ?? {};
    return { part: part(id), label, value: table.length(row, `${id}_ms`), doc };
  });
}
