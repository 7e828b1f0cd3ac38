/** The causes, the largest first: what each costs, what could be won, what to do, and the events that show it. */

import { formatDelta, formatPercent, formatTime } from "../../base/format";
import { t } from "../../base/messages";
import type { Answer, Row, Table } from "../../base/table";
import { deltaClass, deltaMs } from "../../view/delta";
import { Swatch } from "../../view/stackbar";
import { Code } from "../../view/textparts";
import { ViewLink } from "../../view/viewlink";
import type { PageProps } from "../page";
import { evidenceLinks } from "./evidence";

/** Whether its times are of steps, not of the whole capture. */
export function isPerStep(why: Answer): boolean {
  return Boolean(why.number("steps_count"));
}

/** What it costs, and what could be won. */
function Cost({ table, row, perStep }: { table: Table; row: Row; perStep: boolean }) {
  // What is only to be recorded, or to be looked at, saves nothing by itself.
  const gain = table.cell(row, "saves") ? table.number(row, "gain_ps") : null;
  const nextBottleneck = table.text(row, "then_label");
  const confidence = t("Confidence: {level}", { level: table.text(row, "confidence") });
  const figures = {
    share: formatPercent(table.numberOrZero(row, "share")),
    time: formatTime(table.numberOrZero(row, "per_step_ps"), "ps"),
  };
  const costs = [
    perStep ? t("{share}, {time} per step", figures) : t("{share}, {time} in the whole capture", figures),
    ...(gain ? [t("Saves up to {time}", { time: formatTime(gain, "ps") })] : []),
    ...(gain && nextBottleneck ? [t("Next bottleneck: {cause}", { cause: nextBottleneck })] : []),
  ];
  return (
    <span class="gain" data-tip={`${table.column("gain_ps")?.doc}\n${confidence}`}>
      {costs.join(" · ")}
    </span>
  );
}

interface CauseProps {
  readonly page: PageProps;
  readonly why: Answer;
  readonly cause: string;
}

function EventNames({ why, cause }: Pick<CauseProps, "why" | "cause">) {
  const table = why.table("names").where({ cause });
  if (!table.rows.length) return null;
  const times = (count: string) => (isPerStep(why) ? t("× {count} per step", { count }) : `× ${count}`);
  return (
    <details>
      <summary>{t("By name")}</summary>
      <table class="legend">
        <tbody>
          {table.rows.map((row) => (
            <tr key={table.text(row, "name")}>
              <th scope="row">{table.text(row, "name")}</th>
              <td class="number">{table.formatCell(row, "per_step_ps", (ps) => formatTime(ps, "ps"))}</td>
              {table.column("delta_per_step_ps") && (
                <td class="number">
                  <BaselineDelta table={table} row={row} />
                </td>
              )}
              <td class="number">{times(table.numberOrZero(row, "count").toPrecision(3))}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}

function EvidenceLinks({ page, why, cause }: CauseProps) {
  const links = evidenceLinks(page, why, cause);
  if (!links.length) return null;
  return (
    <ul class="evidence">
      <li class="quiet">{t("On the timeline:")}</li>
      {links.map((link) => (
        <li key={link.href}>
          <ViewLink {...link} />
        </li>
      ))}
    </ul>
  );
}

function CauseItem({ page, why, row }: { page: PageProps; why: Answer; row: Row }) {
  const table = why.table("causes");
  const id = table.text(row, "id");
  const [remedy, code] = [table.text(row, "remedy"), table.text(row, "code")];
  return (
    <li class="hint">
      <Swatch id={id} />
      <div>
        <b>{table.text(row, "label")}</b> <Cost table={table} row={row} perStep={isPerStep(why)} />{" "}
        <BaselineDelta table={table} row={row} />
        <div>{table.text(row, "text")}</div>
        {remedy && <div class="remedy">{remedy}</div>}
        {code && (
          <details>
            <summary>{table.column("code")?.label}</summary>
            <Code text={code.trim()} />
          </details>
        )}
        <EventNames why={why} cause={id} />
        <EvidenceLinks page={page} why={why} cause={id} />
      </div>
    </li>
  );
}

/** What it costs more or less than in the baseline. */
function BaselineDelta({ table, row }: { table: Table; row: Row }) {
  const ms = deltaMs(table, row, "per_step_ps");
  if (typeof ms !== "number") return null;
  return (
    <span
      class={deltaClass(ms)}
      data-tip={t("Baseline: {time}", { time: formatTime(table.numberOrZero(row, "base_per_step_ps"), "ps") })}
    >
      {t("{time} per step", { time: formatDelta(ms, (value) => formatTime(value)) })}
    </span>
  );
}

export function Causes({ page, why }: { page: PageProps; why: Answer }) {
  const table = why.table("causes");
  return (
    <ol class="hints" aria-label={table.label}>
      {table.rows.map((row) => (
        <CauseItem key={table.text(row, "id")} page={page} why={why} row={row} />
      ))}
    </ol>
  );
}

export function causesText(why: Answer): string {
  const table = why.table("causes");
  return table.rows
    .map((row) => `${table.text(row, "label")} ${formatPercent(table.numberOrZero(row, "share"))}`)
    .join(" · ");
}
