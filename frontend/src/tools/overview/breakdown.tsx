/** Where the time from step to step goes: one bar and a table whose rows sum to it. */

import { count, finer, percent, plural, type Scale, scaled, shown, time, timeScale } from "../../base/format";
import { part } from "../../base/parts";
import type { Answer, Row, Table } from "../../base/table";
import { beginning } from "../../base/text";
import { DeltaCell, DeltaHead, deltaOf } from "../../view/delta";
import { Doubt } from "../../view/doubt";
import { useKept } from "../../view/kept";
import { Section } from "../../view/section";
import { StackBar, Swatch } from "../../view/stackbar";
import { Chosen } from "../steps/chosen";

/** What the total is: an average over which steps, and how far these lie apart. */
export function extent(answer: Answer): string {
  const all = (answer.number("steps_complete") ?? 0) + (answer.number("steps_incomplete") ?? 0);
  const kept = answer.number("steps_kept") ?? 0;
  const fact = (id: string) => shown(answer.fact(id).value, answer.fact(id).unit);
  if (all === 0) return "captured; no step was found, so this is the whole capture";
  if (all === 1) return answer.number("steps_complete") ? "the only step" : "the only step, which is incomplete";
  const left = kept < all ? `; ${count(all - kept)} of ${count(all)} left out` : "";
  if (kept === 1) return `one step${left}`;
  const range = `${fact("step_minimum_ms")} to ${fact("step_maximum_ms")}`;
  return `average of ${plural(kept, "step")}, median ${fact("step_median_ms")}, σ ${fact("step_deviation_ms")}, ${range}${left}`;
}

interface RowProps {
  readonly table: Table;
  readonly row: Row;
  readonly scale: Scale;
  /** Whether some time lies between steps. */
  readonly between: boolean;
  readonly several: boolean;
  /** Whether there is a baseline. */
  readonly held: boolean;
}

function LegendRow({ table, row, scale, between, several, held }: RowProps) {
  const doc = table.text(row, "doc");
  const ms = (column: string) => scaled(table.length(row, column), scale);
  return (
    <tr>
      <th scope="row">
        <Swatch id={table.text(row, "part")} />
        <span class={doc ? "explained" : undefined} data-tip={doc || undefined} tabIndex={doc ? 0 : undefined}>
          {table.text(row, "label")}
        </span>
      </th>
      <td class="number">{ms("average_ms")}</td>
      {between && (
        <>
          <td class="number">{ms("step_ms")}</td>
          <td class="number">{ms("between_ms")}</td>
        </>
      )}
      <td class="number">{percent(table.length(row, "share"))}</td>
      {held && <DeltaCell ms={deltaOf(table, row, "average_ms")} scale={scale} />}
      {several && (
        <>
          <td class="number">{ms("deviation_ms")}</td>
          <td class="number">
            {ms("minimum_ms")} – {ms("maximum_ms")}
          </td>
        </>
      )}
    </tr>
  );
}

/** The head of a column of times, as the tool explains it. */
function Head({ table, id, label, unit }: { table: Table; id: string; label?: string; unit?: string }) {
  const column = table.column(id);
  return (
    <th scope="col" class="number" data-tip={column?.doc}>
      {label ?? column?.label} {unit && <small>{unit}</small>}
      <Doubt of={column?.depends ?? []} />
    </th>
  );
}

/** What share of the capture and of the devices' work the steps account for. */
function covered(answer: Answer): string {
  const [window, work] = [answer.number("steps_window_share"), answer.number("steps_work_share")];
  if (window === null) return "";
  const more = work === null ? "" : ` and ${percent(work, 0)} of the work`;
  return `they cover ${percent(window, 0)} of the capture${more}`;
}

/** Events that can be counted as steps instead of those that the rule found. */
function Choices({ answer }: { answer: Answer }) {
  const choices = answer.table("step_choices");
  const [chosen, choose] = useKept("step_event");
  if (choices.rows.length + Number(chosen !== "") < 2) return null;
  const names = choices.rows.map((row) => choices.text(row, "name"));
  return (
    <label data-tip="Count these events as steps, on every page that speaks of steps.">
      Steps{" "}
      <select value={chosen} onChange={(event) => choose(event.currentTarget.value)}>
        <option value="">by the rule</option>
        {[...new Set([...names, ...(chosen ? [chosen] : [])])].map((name) => (
          <option key={name} value={name}>
            {beginning(name, 60)}
          </option>
        ))}
      </select>
    </label>
  );
}

interface BreakdownProps {
  readonly answer: Answer;
  readonly severalHosts: boolean;
}

export function Breakdown({ answer, severalHosts }: BreakdownProps) {
  const parts = answer.table("parts");
  const hasSteps = answer.table("steps").rows.length > 0;
  const several = parts.rows.some((row) => parts.number(row, "deviation_ms") !== null);
  const between = hasSteps && parts.rows.some((row) => parts.length(row, "between_ms") > 0);
  const total = answer.number("parts_ms") ?? 0;
  const scale = finer(timeScale(total));
  const held = parts.has("delta_average_ms");
  const used = parts.rows.filter(
    (row) =>
      parts.length(row, "average_ms") > 0 || parts.length(row, "maximum_ms") > 0 || deltaOf(parts, row, "average_ms"),
  );
  const source = answer.text("step_source");
  const hosts = severalHosts ? answer.text("hosts_shown") : "";
  return (
    <Section
      title={hasSteps ? "Where the step's time goes" : parts.label}
      doc={parts.doc}
      note={[hasSteps ? `Steps: ${source}` : source, covered(answer), hosts && `shown: ${hosts}`]
        .filter(Boolean)
        .join("; ")}
      controls={
        <>
          <Choices answer={answer} />
          <Chosen any={hasSteps} />
        </>
      }
    >
      <p class="headline">
        <b>{time(total)}</b>
        <Doubt of={answer.fact("parts_ms").depends} />{" "}
        <span class="quiet">
          {between && `from step to step, ${time(answer.number("step_average_ms") ?? 0)} of it in the step; `}
          {extent(answer)}
        </span>
      </p>
      <StackBar
        total={total}
        pieces={used.map((row) => ({
          part: part(parts.text(row, "part")),
          label: parts.text(row, "label"),
          value: parts.length(row, "average_ms"),
          doc: parts.text(row, "doc"),
        }))}
      />
      {used.length > 0 && (
        <table class="legend">
          <thead>
            <tr>
              <th scope="col">State</th>
              <Head table={parts} id="average_ms" label={hasSteps ? "Average" : "Time"} unit={scale.unit} />
              {between && (
                <>
                  <Head table={parts} id="step_ms" unit={scale.unit} />
                  <Head table={parts} id="between_ms" unit={scale.unit} />
                </>
              )}
              <Head table={parts} id="share" />
              {held && <DeltaHead unit={scale.unit} />}
              {several && (
                <>
                  <Head table={parts} id="deviation_ms" unit={scale.unit} />
                  <Head table={parts} id="minimum_ms" label="Range" unit={scale.unit} />
                </>
              )}
            </tr>
          </thead>
          <tbody>
            {used.map((row) => (
              <LegendRow key={parts.text(row, "part")} {...{ table: parts, row, scale, between, several, held }} />
            ))}
            <tr class="sum">
              <th scope="row">{between ? "From step to step" : hasSteps ? "Step" : "Capture"}</th>
              <td class="number">{scaled(total, scale)}</td>
              {between && <td colSpan={2} />}
              <td class="number">{percent(1)}</td>
              {held && <DeltaCell ms={answer.number("delta_parts_ms")} scale={scale} />}
              {several && <td colSpan={2} />}
            </tr>
          </tbody>
        </table>
      )}
    </Section>
  );
}
