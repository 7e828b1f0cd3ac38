/** The parts of steps in any table that has a column for each of them, named `{part}_ms`. */

import { PARTS, partById } from "../../base/parts";
import type { Row, Table } from "../../base/table";
import { deltaMs } from "../../view/delta";
import type { ColumnSpecs } from "../../view/gridmodel";
import type { BarPiece } from "../../view/stackbar";
import type { BaselineStep, StackedLayer } from "../../view/stackedchart";

/** The parts in which any row spends time, in the order of all pages. */
export function usedPartIds(table: Table): string[] {
  return PARTS.map(({ id }) => id).filter((id) => table.rows.some((row) => table.numberOrZero(row, `${id}_ms`) > 0));
}

/** Columns of parts in which no row spends time, nor spent any in the baseline. */
export function unusedPartColumns(table: Table): string[] {
  return PARTS.map(({ id }) => `${id}_ms`)
    .filter((id) => table.rows.every((row) => !table.numberOrZero(row, id) && !table.numberOrZero(row, `base_${id}`)))
    .flatMap((id) => [id, `base_${id}`, `delta_${id}`]);
}

/** The baseline's figures of the parts, which tables keep until they are asked for: there are many of them. */
export const BASE_PART_SPECS: ColumnSpecs = Object.fromEntries(
  PARTS.map(({ id }) => [`base_${id}_ms`, { hidden: true }]),
);

/** What a row of a table of steps is held against, by the column of its whole time. */
export function baselineStepOf(table: Table, row: Row, totalColumn: string): BaselineStep | null {
  const totalMs = table.number(row, `base_${totalColumn}`);
  return totalMs === null
    ? null
    : { totalMs, deltaMs: table.number(row, `delta_${totalColumn}`), name: table.text(row, "match") };
}

/** The used parts as layers of stacked columns, one per row. */
export function partLayers(table: Table): StackedLayer[] {
  return usedPartIds(table).map((id) => partLayer(table, id));
}

/** The column of a part, drawn as this one or as another. */
export function partLayer(table: Table, id: string, drawnAs = id): StackedLayer {
  return {
    part: partById(drawnAs),
    label: table.column(`${id}_ms`)?.label ?? id,
    valuesMs: table.rows.map((row) => table.numberOrZero(row, `${id}_ms`)),
  };
}

/** The used parts as pieces of one row's bar. */
export function partPieces(table: Table, row: Row): BarPiece[] {
  const unused = new Set(unusedPartColumns(table));
  return PARTS.filter(({ id }) => !unused.has(`${id}_ms`)).map(({ id }) => {
    const { label = id, doc = "" } = table.column(`${id}_ms`) ?? {};
    return {
      part: partById(id),
      label,
      ms: table.numberOrZero(row, `${id}_ms`),
      doc,
      delta: deltaMs(table, row, `${id}_ms`),
    };
  });
}
