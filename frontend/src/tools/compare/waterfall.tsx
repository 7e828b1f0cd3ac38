/** From the base's step to the new one's, part by part: to the right what takes longer, to the left what takes less. */

import { largest } from "../../base/extent";
import { formatTime } from "../../base/format";
import { t } from "../../base/messages";
import type { Answer, Row, Table } from "../../base/table";
import { useChoices } from "../../view/choices";
import { Section } from "../../view/section";
import { Swatch } from "../../view/stackbar";

/** With its sign, since it is a difference. */
export function signedTime(ps: number): string {
  return `${ps > 0 ? "+" : ps < 0 ? "−" : ""}${formatTime(Math.abs(ps), "ps")}`;
}

function DifferenceBar({ table, row, largestPs }: { table: Table; row: Row; largestPs: number }) {
  const deltaPs = table.numberOrZero(row, "delta_ps");
  const [lowPs, highPs] = [table.number(row, "low_ps"), table.number(row, "high_ps")];
  const percentAt = (ps: number) => 50 + (50 * ps) / largestPs;
  const [from, to] = [Math.min(percentAt(0), percentAt(deltaPs)), Math.max(percentAt(0), percentAt(deltaPs))];
  const tip =
    lowPs === null || highPs === null
      ? undefined
      : t("95 %: {low} to {high}", { low: signedTime(lowPs), high: signedTime(highPs) });
  return (
    <svg class="diverging" viewBox="0 0 100 10" preserveAspectRatio="none" role="img" aria-label={signedTime(deltaPs)}>
      {tip && <title>{tip}</title>}
      <line class="middle" x1={50} x2={50} y1={0} y2={10} />
      <rect class={deltaPs > 0 ? "more" : "less"} x={from} width={Math.max(to - from, 0.3)} y={2} height={6} />
      {lowPs !== null && highPs !== null && (
        <line class="interval" x1={percentAt(lowPs)} x2={percentAt(highPs)} y1={5} y2={5} />
      )}
    </svg>
  );
}

export function Waterfall({ answer }: { answer: Answer }) {
  const table = answer.table("parts");
  const edgesPs = table.rows.flatMap((row) =>
    ["delta_ps", "low_ps", "high_ps"].map((id) => table.numberOrZero(row, id)),
  );
  const [, choose] = useChoices();
  const largestPs = largest(edgesPs.map(Math.abs), 1);
  const [basePs, newPs] = [answer.number("base_ps") ?? 0, answer.number("new_ps") ?? 0];
  return (
    <Section title={table.label} doc={table.doc}>
      <table class="legend waterfall">
        <thead>
          <tr>
            <th>{t("part")}</th>
            <th class="number">{t("base")}</th>
            <th class="number">{t("new")}</th>
            <th class="number">{t("difference")}</th>
            <th>{t("interval")}</th>
          </tr>
        </thead>
        <tbody>
          {table.rows.map((row) => (
            <tr key={table.text(row, "id")}>
              <th scope="row">
                <Swatch id={table.text(row, "id")} />{" "}
                <button
                  type="button"
                  class="bare row-act"
                  data-tip={t("Show its ops only")}
                  onClick={() => choose({ "ops.only.part": table.text(row, "id") })}
                >
                  {table.text(row, "label")}
                </button>
              </th>
              <td class="number">{table.formatCell(row, "base_ps", (ps) => formatTime(ps, "ps"))}</td>
              <td class="number">{table.formatCell(row, "new_ps", (ps) => formatTime(ps, "ps"))}</td>
              <td class="number">{table.formatCell(row, "delta_ps", signedTime)}</td>
              <td class="bar">
                <DifferenceBar table={table} row={row} largestPs={largestPs} />
              </td>
            </tr>
          ))}
          <tr class="sum">
            <th scope="row">{t("From step to step")}</th>
            <td class="number">{formatTime(basePs, "ps")}</td>
            <td class="number">{formatTime(newPs, "ps")}</td>
            <td class="number">{signedTime(newPs - basePs)}</td>
            <td />
          </tr>
        </tbody>
      </table>
    </Section>
  );
}
