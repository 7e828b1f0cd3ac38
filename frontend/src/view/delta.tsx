/** Differences from the baseline in tables that pages draw by themselves: with the sign and the colours of grids. */

import { formatDelta, msPer } from "../base/format";
import { t } from "../base/messages";
import type { Row, Table } from "../base/table";

/** What a time differs by from the baseline's, ms; null where that is unknown, undefined without a baseline. */
export function deltaMs(table: Table, row: Row, id: string): number | null | undefined {
  const column = table.column(`delta_${id}`);
  if (!column) return undefined;
  const value = table.number(row, column.id);
  return value === null ? null : value * msPer(column.unit);
}

/** The class of a difference: more is worse. */
export function deltaClass(value: number | null | undefined): string {
  return value ? (value > 0 ? "more" : "less") : "";
}

export function DeltaHead({ unit }: { unit?: string }) {
  return (
    <th scope="col" class="number" data-tip={t("This session's value minus the baseline's.")}>
      Δ {unit && <small>{unit}</small>}
    </th>
  );
}

interface DeltaCellProps {
  /** Blank where it is not known. */
  readonly delta: number | null | undefined;
  readonly show: (delta: number) => string;
}

export function DeltaCell({ delta, show }: DeltaCellProps) {
  return <td class={`number ${deltaClass(delta)}`}>{typeof delta === "number" && formatDelta(delta, show)}</td>;
}
