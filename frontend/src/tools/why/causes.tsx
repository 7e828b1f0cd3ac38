/** The causes, the largest first: what each costs, what could be won, what to do, and the events that show it. */

import { percent, time } from "../../base/format";
import type { Row, Table } from "../../base/table";
import { theEvent } from "../../state/links";
import { deltaOf, signOf } from "../../view/delta";
import { Section } from "../../view/section";
import { Swatch } from "../../view/stackbar";
import { GoLink } from "../../view/verdict";
import type { PageProps } from "../page";

/** What it costs, and what could be won. */
function Cost({ table, row }: { table: Table; row: Row }) {
  const gain = table.number(row, "gain_ps");
  const then = table.text(row, "then_label");
  return (
    <span class="gain" data-tip={`${table.column("gain_ps")?.doc}\nConfidence: ${table.text(row, "confidence")}`}>
      {percent(table.length(row, "share"))}, {time(table.length(row, "per_step_ps"), "ps")} per step
      {gain !== null && `; at most ${time(gain, "ps")} can be won`}
      {gain !== null && then && `, then limited by ${then.toLowerCase()}`}
    </span>
  );
}

function Names({ page, cause }: { page: PageProps; cause: string }) {
  const table = page.answer.table("names");
  const rows = table.rows.filter((row) => table.text(row, "cause") === cause);
  if (!rows.length) return null;
  return (
    <details>
      <summary>By name</summary>
      <table class="legend">
        <tbody>
          {rows.map((row) => (
            <tr key={table.text(row, "name")}>
              <th scope="row">{table.text(row, "name")}</th>
              <td class="number">{time(table.length(row, "per_step_ps"), "ps")}</td>
              {table.column("delta_per_step_ps") && (
                <td class="number">
                  <Change table={table} row={row} />
                </td>
              )}
              <td class="number">× {table.length(row, "count").toPrecision(3)} per step</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}

/** Links to the longest stretches on the timeline. */
function Evidence({ page, cause }: { page: PageProps; cause: string }) {
  const table = page.answer.table("evidence");
  const links = table.rows
    .filter((row) => table.text(row, "cause") === cause && table.number(row, "event") !== null)
    .slice(0, 3)
    .flatMap((row) => {
      const place = page.session.hosts.indexOf(table.text(row, "host"));
      const link = theEvent(page.store, place, table.length(row, "event"));
      return link
        ? [{ ...link, label: `${table.text(row, "name")}, ${time(table.length(row, "time_ps"), "ps")}` }]
        : [];
    });
  if (!links.length) return null;
  return (
    <p class="quiet">
      On the timeline:{" "}
      {links.map((link) => (
        <GoLink key={link.href} {...link} />
      ))}
    </p>
  );
}

function Cause({ page, row }: { page: PageProps; row: Row }) {
  const table = page.answer.table("causes");
  const id = table.text(row, "id");
  const [remedy, code] = [table.text(row, "remedy"), table.text(row, "code")];
  return (
    <li class="hint">
      <Swatch id={id} />
      <div>
        <b>{table.text(row, "label")}</b> <Cost table={table} row={row} /> <Change table={table} row={row} />
        <div>{table.text(row, "text")}</div>
        {remedy && <div class="remedy">{remedy}</div>}
        {code && (
          <details>
            <summary>{table.column("code")?.label}</summary>
            <pre>{code}</pre>
          </details>
        )}
        <Names page={page} cause={id} />
        <Evidence page={page} cause={id} />
      </div>
    </li>
  );
}

/** What it costs more or less than in the baseline. */
function Change({ table, row }: { table: Table; row: Row }) {
  const ms = deltaOf(table, row, "per_step_ps");
  if (typeof ms !== "number") return null;
  return (
    <span class={signOf(ms)} data-tip={`Baseline: ${time(table.length(row, "base_per_step_ps"), "ps")}`}>
      {ms > 0 ? "+" : ""}
      {time(ms)} per step
    </span>
  );
}

export function Causes({ page }: { page: PageProps }) {
  const table = page.answer.table("causes");
  if (!table.rows.length) return null;
  return (
    <Section title={table.label} doc={table.doc}>
      <ol class="hints">
        {table.rows.map((row) => (
          <Cause key={table.text(row, "id")} page={page} row={row} />
        ))}
      </ol>
    </Section>
  );
}
