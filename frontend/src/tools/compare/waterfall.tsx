/** From the base's step to the new one's, part by part: to the right what takes longer, to the left what takes less. */

import { largest } from "../../base/extent";
import { inMilliseconds, time } from "../../base/format";
import { t } from "../../base/messages";
import type { Answer, Row, Table } from "../../base/table";
import { useChoices } from "../../view/choices";
import { Section } from "../../view/section";
import { Swatch } from "../../view/stackbar";

const PS = inMilliseconds("ps");

/** With its sign, since it is a difference. */
export function difference(ps: number): string {
  return `${ps > 0 ? "+" : ps < 0 ? "−" : ""}${time(Math.abs(ps) * PS)}`;
}

function Bar({ table, row, reach }: { table: Table; row: Row; reach: number }) {
  const delta = table.length(row, "delta_ps");
  const [low, high] = [table.number(row, "low_ps"), table.number(row, "high_ps")];
  const at = (ps: number) => 50 + (50 * ps) / reach;
  const [from, to] = [Math.min(at(0), at(delta)), Math.max(at(0), at(delta))];
  const tip =
    low === null || high === null
      ? undefined
      : t("95 %: {low} to {high}", { low: difference(low), high: difference(high) });
  return (
    <svg class="diverging" viewBox="0 0 100 10" preserveAspectRatio="none" role="img" aria-label={difference(delta)}>
      {tip && <title>{tip}</title>}
      <line class="middle" x1={50} x2={50} y1={0} y2={10} />
      <rect class={delta > 0 ? "more" : "less"} x={from} width={Math.max(to - from, 0.3)} y={2} height={6} />
      {low !== null && high !== null && <line class="interval" x1={at(low)} x2={at(high)} y1={5} y2={5} />}
    </svg>
  );
}

export function Waterfall({ answer }: { answer: Answer }) {
  const table = answer.table("parts");
  const edges = table.rows.flatMap((row) => ["delta_ps", "low_ps", "high_ps"].map((id) => table.length(row, id)));
  const [, choose] = useChoices();
  const reach = largest(edges.map(Math.abs), 1);
  const [base, fresh] = [answer.number("base_ps") ?? 0, answer.number("new_ps") ?? 0];
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
                  class="row-act"
                  data-tip={t("Show its ops only")}
                  onClick={() => choose({ "ops.only.part": table.text(row, "id") })}
                >
                  {table.text(row, "label")}
                </button>
              </th>
              <td class="number">{time(table.length(row, "base_ps") * PS)}</td>
              <td class="number">{time(table.length(row, "new_ps") * PS)}</td>
              <td class="number">{difference(table.length(row, "delta_ps"))}</td>
              <td class="bar">
                <Bar table={table} row={row} reach={reach} />
              </td>
            </tr>
          ))}
          <tr class="sum">
            <th scope="row">{t("From step to step")}</th>
            <td class="number">{time(base * PS)}</td>
            <td class="number">{time(fresh * PS)}</td>
            <td class="number">{difference(fresh - base)}</td>
            <td />
          </tr>
        </tbody>
      </table>
    </Section>
  );
}
