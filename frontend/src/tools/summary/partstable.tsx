/** The bar's figures in a table whose rows sum to the whole: in the step and after it, how far steps lie apart. */

import { formatPercent, formatScaled, type Scale, timeScale, withMoreDecimals } from "../../base/format";
import { t } from "../../base/messages";
import type { Answer, Row, Table } from "../../base/table";
import { DeltaCell, DeltaHead, deltaMs } from "../../view/delta";
import { Doubt } from "../../view/doubt";
import { Swatch } from "../../view/stackbar";
import { stepFacts, usedPartRows } from "./stepbar";

interface PartRowProps {
  readonly table: Table;
  readonly row: Row;
  readonly scale: Scale;
  /** Whether some time lies between steps. */
  readonly hasTimeBetween: boolean;
  readonly hasSeveralSteps: boolean;
  readonly hasBaseline: boolean;
}

function PartRow({ table, row, scale, hasTimeBetween, hasSeveralSteps, hasBaseline }: PartRowProps) {
  const doc = table.text(row, "doc");
  const ms = (column: string) => table.formatCell(row, column, (value) => formatScaled(value, scale));
  const range = [ms("minimum_ms"), ms("maximum_ms")];
  return (
    <tr>
      <th scope="row">
        <Swatch id={table.text(row, "part")} />
        <span class={doc ? "explained" : undefined} data-tip={doc || undefined} tabIndex={doc ? 0 : undefined}>
          {table.text(row, "label")}
        </span>
      </th>
      <td class="number">{ms("average_ms")}</td>
      {hasTimeBetween && (
        <>
          <td class="number">{ms("step_ms")}</td>
          <td class="number">{ms("between_ms")}</td>
        </>
      )}
      <td class="number">{table.formatCell(row, "share", (share) => formatPercent(share))}</td>
      {hasBaseline && <DeltaCell delta={deltaMs(table, row, "average_ms")} show={(ms) => formatScaled(ms, scale)} />}
      {hasSeveralSteps && (
        <>
          <td class="number">{ms("deviation_ms")}</td>
          <td class="number">{range.every(Boolean) && range.join(" – ")}</td>
        </>
      )}
    </tr>
  );
}

/** The head of a column of times, as the tool explains it. */
function TimeHead({ table, id, label, unit }: { table: Table; id: string; label?: string; unit?: string }) {
  const column = table.column(id);
  return (
    <th scope="col" class="number" data-tip={column?.doc}>
      {label ?? column?.label} {unit && <small>{unit}</small>}
      <Doubt depends={column?.depends ?? []} />
    </th>
  );
}

/** What the parts sum to. */
function wholeLabel(hasSteps: boolean, hasTimeBetween: boolean): string {
  if (hasTimeBetween) return t("From step to step");
  return hasSteps ? t("Step") : t("Capture");
}

export function PartsTable({ answer }: { answer: Answer }) {
  const parts = answer.table("parts");
  const { hasSteps, hasTimeBetween } = stepFacts(answer);
  const hasSeveralSteps = parts.rows.some((row) => parts.number(row, "deviation_ms") !== null);
  const total = answer.number("parts_ms") ?? 0;
  const scale = withMoreDecimals(timeScale(total));
  const hasBaseline = parts.has("delta_average_ms");
  return (
    <table class="legend">
      <thead>
        <tr>
          <th scope="col">{t("State")}</th>
          <TimeHead table={parts} id="average_ms" label={hasSteps ? t("Average") : t("Time")} unit={scale.unit} />
          {hasTimeBetween && (
            <>
              <TimeHead table={parts} id="step_ms" unit={scale.unit} />
              <TimeHead table={parts} id="between_ms" unit={scale.unit} />
            </>
          )}
          <TimeHead table={parts} id="share" />
          {hasBaseline && <DeltaHead unit={scale.unit} />}
          {hasSeveralSteps && (
            <>
              <TimeHead table={parts} id="deviation_ms" unit={scale.unit} />
              <TimeHead table={parts} id="minimum_ms" label={t("Range")} unit={scale.unit} />
            </>
          )}
        </tr>
      </thead>
      <tbody>
        {usedPartRows(answer).map((row) => (
          <PartRow
            key={parts.text(row, "part")}
            table={parts}
            row={row}
            scale={scale}
            hasTimeBetween={hasTimeBetween}
            hasSeveralSteps={hasSeveralSteps}
            hasBaseline={hasBaseline}
          />
        ))}
        <tr class="sum">
          <th scope="row">{wholeLabel(hasSteps, hasTimeBetween)}</th>
          <td class="number">{formatScaled(total, scale)}</td>
          {hasTimeBetween && <td colSpan={2} />}
          <td class="number">{formatPercent(1)}</td>
          {hasBaseline && <DeltaCell delta={answer.number("delta_parts_ms")} show={(ms) => formatScaled(ms, scale)} />}
          {hasSeveralSteps && <td colSpan={2} />}
        </tr>
      </tbody>
    </table>
  );
}
