/** The steps of both sides on one scale, in order of time; those that do not count are hollow. */

import type { ComponentChildren } from "preact";
import { largest } from "../../base/extent";
import { inMilliseconds, time } from "../../base/format";
import { t } from "../../base/messages";
import type { Answer, Row, Table } from "../../base/table";
import { Section } from "../../view/section";
import { LEFT_OUT } from "../steps/leftout";

const PS = inMilliseconds("ps");
const HEIGHT = 90;
const WIDTH = 600;

interface StripProps {
  readonly table: Table;
  readonly rows: readonly Row[];
  readonly mean: number;
  readonly top: number;
  readonly label: string;
}

function Strip({ table, rows, mean, top, label }: StripProps) {
  const x = (place: number) => ((place + 0.5) / rows.length) * WIDTH;
  const y = (ps: number) => HEIGHT - 4 - Math.min(1, ps / top) * (HEIGHT - 8);
  return (
    <figure class="side-strip">
      <figcaption>
        {label}: <b>{time(mean * PS)}</b>
      </figcaption>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        role="img"
        aria-label={t("{label}: {count, plural, one {# step} other {# steps}}", { label, count: rows.length })}
      >
        <line class="mean" x1={0} x2={WIDTH} y1={y(mean)} y2={y(mean)} />
        {rows.map((row, place) => {
          const ps = table.length(row, "time_ps");
          const reason = table.text(row, "reason");
          const step = { number: table.text(row, "number"), time: time(ps * PS) };
          return (
            <circle key={table.text(row, "place")} class={reason ? "out" : "in"} cx={x(place)} cy={y(ps)} r={3.5}>
              <title>
                {reason
                  ? t("step {number}: {time}, left out: {reason}", { ...step, reason: LEFT_OUT[reason] ?? reason })
                  : t("step {number}: {time}", step)}
              </title>
            </circle>
          );
        })}
      </svg>
    </figure>
  );
}

export function Strips({ answer, controls }: { answer: Answer; controls: ComponentChildren }) {
  const table = answer.table("steps");
  const [base, fresh] = ["base", "new"].map((side) => table.where({ side }).rows);
  const means = [answer.number("base_ps") ?? 0, answer.number("new_ps") ?? 0] as const;
  const counted = table.rows.filter((row) => !table.text(row, "reason")).map((row) => table.length(row, "time_ps"));
  // What is left out may be far off; it stays at the edge.
  const top = 1.25 * largest([...means, ...counted], 1);
  return (
    <Section
      title={table.label}
      doc={t("Time from the start of a step to the start of the next; hollow steps are left out.")}
      controls={controls}
    >
      <Strip table={table} rows={base ?? []} mean={means[0]} top={top} label={t("Base")} />
      <Strip table={table} rows={fresh ?? []} mean={means[1]} top={top} label={t("New")} />
    </Section>
  );
}
