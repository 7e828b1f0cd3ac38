/** Where the average step's time goes: one bar and a table whose rows sum to the step. */

import type { Row, Table } from "../../base/datatable";
import { count, finer, percent, plural, type Scale, scaled, time, timeScale } from "../../base/format";
import { part } from "../../base/parts";
import { median, summarize } from "../../base/statistics";
import { Doubt } from "../../view/doubt";
import { Section } from "../../view/section";
import { StackBar, Swatch } from "../../view/stackbar";
import { completeTimes } from "../../view/stepchart";

interface BreakdownProps {
  readonly breakdown: Table;
  readonly steps: Table;
  readonly summary: Table;
  readonly severalHosts: boolean;
}

interface HeadlineProps {
  /** Of the complete steps, in ms. */
  readonly times: readonly number[];
  readonly incomplete: number;
  readonly total: number;
}

function Headline({ times, incomplete, total }: HeadlineProps) {
  const left = incomplete > 0 ? `; ${count(incomplete)} incomplete left out` : "";
  const { sdv, low, high } = summarize(times);
  const words = [
    "captured; no complete step was found, so this is the whole capture",
    `the only complete step${left}`,
    `average of ${plural(times.length, "step")}, median ${time(median(times))}, σ ${time(sdv)}, ${time(low)} to ${time(high)}${left}`,
  ];
  return (
    <p class="headline">
      <b>{time(total)}</b>
      <Doubt of="steptime_ms_average" /> <span class="quiet">{words[Math.min(times.length, 2)]}</span>
    </p>
  );
}

function LegendRow({ table, row, scale, several }: { table: Table; row: Row; scale: Scale; several: boolean }) {
  const id = table.text(row, "part");
  const doc = table.text(row, "doc");
  const ms = (column: string) => scaled(table.number(row, column), scale);
  return (
    <tr>
      <th scope="row">
        <Swatch id={id} />
        <span class={doc ? "explained" : undefined} data-tip={doc || undefined} tabIndex={doc ? 0 : undefined}>
          {table.text(row, "label") || part(id).label}
        </span>
      </th>
      <td class="number">{ms("average_ms")}</td>
      <td class="number">{percent(table.number(row, "share"))}</td>
      {several && (
        <>
          <td class="number">{ms("sdv_ms")}</td>
          <td class="number">
            {ms("minimum_ms")} – {ms("maximum_ms")}
          </td>
        </>
      )}
    </tr>
  );
}

export function Breakdown({ breakdown, steps, summary, severalHosts }: BreakdownProps) {
  const hasSteps = steps.rows.length > 0;
  const times = completeTimes(steps);
  const several = times.length > 1;
  const total = breakdown.rows.reduce((sum, row) => sum + breakdown.number(row, "average_ms"), 0);
  const scale = finer(timeScale(total));
  const used = breakdown.rows.filter(
    (row) => breakdown.number(row, "average_ms") > 0 || breakdown.number(row, "maximum_ms") > 0,
  );
  const unused = breakdown.rows.filter((row) => !used.includes(row));
  const source = summary.property("step_source");
  const hosts = severalHosts ? summary.property("hosts_shown") : "";
  return (
    <Section
      title={hasSteps ? "Where the step's time goes" : "Where the time goes"}
      doc="Every moment belongs to exactly one part, so the parts sum to the whole. The device comes first: what the host does counts only while no device works."
      note={[hasSteps ? `Steps: ${source}` : source, hosts && `shown: ${hosts}`].filter(Boolean).join("; ")}
    >
      <Headline times={times} incomplete={steps.rows.length - times.length} total={total} />
      <StackBar
        pieces={used.map((row) => ({
          part: part(breakdown.text(row, "part")),
          value: breakdown.number(row, "average_ms"),
          doc: breakdown.text(row, "doc"),
        }))}
      />
      {used.length > 0 && (
        <table class="legend">
          <thead>
            <tr>
              <th scope="col">Part</th>
              <th scope="col" class="number" data-tip={breakdown.column("average_ms")?.doc}>
                {hasSteps ? "Average" : "Time"} <small>{scale.unit}</small>
                <Doubt of="average_ms" />
              </th>
              <th scope="col" class="number" data-tip={breakdown.column("share")?.doc}>
                Share
              </th>
              {several && (
                <>
                  <th scope="col" class="number" data-tip={breakdown.column("sdv_ms")?.doc}>
                    σ <small>{scale.unit}</small>
                    <Doubt of="sdv_ms" />
                  </th>
                  <th scope="col" class="number" data-tip="Smallest and largest over the complete steps">
                    Range <small>{scale.unit}</small>
                  </th>
                </>
              )}
            </tr>
          </thead>
          <tbody>
            {used.map((row) => (
              <LegendRow
                key={breakdown.text(row, "part")}
                table={breakdown}
                row={row}
                scale={scale}
                several={several}
              />
            ))}
            <tr class="sum">
              <th scope="row">{hasSteps ? "Step" : "Capture"}</th>
              <td class="number">{scaled(total, scale)}</td>
              <td class="number">{percent(total > 0 ? 1 : 0)}</td>
              {several && <td colSpan={2} />}
            </tr>
          </tbody>
        </table>
      )}
      {unused.length > 0 && (
        <p class="quiet">
          No time in:{" "}
          {unused.map((row) => breakdown.text(row, "label") || part(breakdown.text(row, "part")).label).join(", ")}.
        </p>
      )}
    </Section>
  );
}
