/** The steps of both sides on one scale, in order of time; those that do not count are hollow. */

import type { ComponentChildren } from "preact";
import { largest } from "../../base/extent";
import { formatTime } from "../../base/format";
import { t } from "../../base/messages";
import type { Answer, Row, Table } from "../../base/table";
import { Section } from "../../view/section";
import { LEFT_OUT_REASONS } from "../steps/leftoutreasons";

const HEIGHT_PX = 90;
const WIDTH_PX = 600;

interface StripProps {
  readonly table: Table;
  readonly rows: readonly Row[];
  readonly meanPs: number;
  readonly topPs: number;
  readonly label: string;
}

function SideStrip({ table, rows, meanPs, topPs, label }: StripProps) {
  const x = (place: number) => ((place + 0.5) / rows.length) * WIDTH_PX;
  const y = (ps: number) => HEIGHT_PX - 4 - Math.min(1, ps / topPs) * (HEIGHT_PX - 8);
  return (
    <figure class="side-strip">
      <figcaption>
        {label}: <b>{formatTime(meanPs, "ps")}</b>
      </figcaption>
      <svg
        viewBox={`0 0 ${WIDTH_PX} ${HEIGHT_PX}`}
        role="img"
        aria-label={t("{label}: {count, plural, one {# step} other {# steps}}", { label, count: rows.length })}
      >
        <line class="mean" x1={0} x2={WIDTH_PX} y1={y(meanPs)} y2={y(meanPs)} />
        {rows.map((row, place) => {
          const ps = table.numberOrZero(row, "time_ps");
          const reason = table.text(row, "reason");
          const step = { number: table.text(row, "number"), time: formatTime(ps, "ps") };
          return (
            <circle key={table.text(row, "place")} class={reason ? "out" : "in"} cx={x(place)} cy={y(ps)} r={3.5}>
              <title>
                {reason
                  ? t("step {number}: {time}, left out: {reason}", {
                      ...step,
                      reason: LEFT_OUT_REASONS[reason] ?? reason,
                    })
                  : t("step {number}: {time}", step)}
              </title>
            </circle>
          );
        })}
      </svg>
    </figure>
  );
}

export function StepStrips({ answer, controls }: { answer: Answer; controls: ComponentChildren }) {
  const table = answer.table("steps");
  const [baseRows, newRows] = ["base", "new"].map((side) => table.where({ side }).rows);
  const meansPs = [answer.number("base_ps") ?? 0, answer.number("new_ps") ?? 0] as const;
  const countedPs = table.rows
    .filter((row) => !table.text(row, "reason"))
    .map((row) => table.numberOrZero(row, "time_ps"));
  // What is left out may be far off; it stays at the edge.
  const topPs = 1.25 * largest([...meansPs, ...countedPs], 1);
  return (
    <Section
      title={table.label}
      doc={t("Time from the start of a step to the start of the next; hollow steps are left out.")}
      controls={controls}
    >
      <SideStrip table={table} rows={baseRows ?? []} meanPs={meansPs[0]} topPs={topPs} label={t("Base")} />
      <SideStrip table={table} rows={newRows ?? []} meanPs={meansPs[1]} topPs={topPs} label={t("New")} />
    </Section>
  );
}
