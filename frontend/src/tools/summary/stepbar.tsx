/** The bar of the step: what the time from step to step is spent on, with its legend below. */

import type { ComponentChildren } from "preact";
import { formatDelta, formatPercent, formatTime, formatValue } from "../../base/format";
import { joinSentences, t } from "../../base/messages";
import { partById } from "../../base/parts";
import type { Answer, Row, Table } from "../../base/table";
import { cutEnd } from "../../base/text";
import { useChoice } from "../../view/choices";
import { deltaClass, deltaMs } from "../../view/delta";
import { Doubt } from "../../view/doubt";
import { Section } from "../../view/section";
import { LabelledSelect } from "../../view/select";
import { StackBar, Swatch } from "../../view/stackbar";
import { StepChoice } from "../steps/stepchoice";

/** A text about the total: an average over which steps, and how much these vary. */
export function averageText(answer: Answer): string {
  const stepCount = (answer.number("steps_complete") ?? 0) + (answer.number("steps_incomplete") ?? 0);
  const averagedCount = answer.number("steps_kept") ?? 0;
  const fact = (id: string) => formatValue(answer.fact(id).value, answer.fact(id).unit);
  if (stepCount === 0) return t("captured; no step was found");
  if (stepCount === 1) {
    return answer.number("steps_complete") ? t("the only step") : t("the only step, which is incomplete");
  }
  const average =
    averagedCount === 1
      ? t("one step")
      : t(
          "average of {count, plural, one {# step} other {# steps}}, median {median}, σ {deviation}, {least} to {most}",
          {
            count: averagedCount,
            median: fact("step_median_ms"),
            deviation: fact("step_deviation_ms"),
            least: fact("step_minimum_ms"),
            most: fact("step_maximum_ms"),
          },
        );
  return averagedCount < stepCount
    ? `${average} · ${t("{left} of {all} left out", { left: stepCount - averagedCount, all: stepCount })}`
    : average;
}

/** A sentence about the shares of the capture and of the devices' work that lie in steps. */
function coverageText(answer: Answer): string {
  const [window, work] = [answer.number("steps_window_share"), answer.number("steps_work_share")];
  if (window === null) return "";
  const share = formatPercent(window, 0);
  return work === null
    ? t("Steps cover {share} of the capture.", { share })
    : t("Steps cover {share} of the capture and {work} of the work.", { share, work: formatPercent(work, 0) });
}

/** A choice of events to count as steps instead of those that the rule found. */
function StepEventChoice({ answer }: { answer: Answer }) {
  const choices = answer.table("step_choices");
  const [chosen, choose] = useChoice("step_event");
  if (choices.rows.length + Number(chosen !== "") < 2) return null;
  const names = choices.rows.map((row) => choices.text(row, "name"));
  return (
    <LabelledSelect
      label={t("Steps")}
      tip={t("Count these events as steps, on all pages.")}
      value={chosen}
      options={[
        ["", t("found by rule")],
        ...[...new Set([...names, ...(chosen ? [chosen] : [])])].map((name) => [name, cutEnd(name, 60)] as const),
      ]}
      choose={choose}
    />
  );
}

/** Whether the answer is about steps, and whether some time lies between them. */
export function stepFacts(answer: Answer): { readonly hasSteps: boolean; readonly hasTimeBetween: boolean } {
  const parts = answer.table("parts");
  const hasSteps = answer.table("steps").rows.length > 0;
  return { hasSteps, hasTimeBetween: hasSteps && parts.rows.some((row) => parts.numberOrZero(row, "between_ms") > 0) };
}

/** The parts in which time is spent, here or in the baseline. */
export function usedPartRows(answer: Answer): Row[] {
  const parts = answer.table("parts");
  return parts.rows.filter(
    (row) =>
      parts.numberOrZero(row, "average_ms") > 0 ||
      parts.numberOrZero(row, "maximum_ms") > 0 ||
      deltaMs(parts, row, "average_ms"),
  );
}

function LegendEntry({ parts, row }: { parts: Table; row: Row }) {
  const delta = deltaMs(parts, row, "average_ms");
  const average = parts.formatCell(row, "average_ms", (ms) => formatTime(ms));
  const share = parts.formatCell(row, "share", (value) => formatPercent(value));
  return (
    <li data-tip={parts.text(row, "doc") || undefined}>
      <Swatch id={parts.text(row, "part")} />
      {parts.text(row, "label")} <span class="quiet">{[average, share].filter(Boolean).join(" · ")}</span>
      {typeof delta === "number" && delta !== 0 && (
        <span class={deltaClass(delta)}> {formatDelta(delta, (ms) => formatTime(ms))}</span>
      )}
    </li>
  );
}

interface StepBarProps {
  readonly answer: Answer;
  readonly severalHosts: boolean;
  /** Wraps the bar, to put it above what shares its axis. */
  readonly around?: (bar: ComponentChildren) => ComponentChildren;
}

export function StepBar({ answer, severalHosts, around = (bar) => bar }: StepBarProps) {
  const parts = answer.table("parts");
  const { hasSteps, hasTimeBetween } = stepFacts(answer);
  const totalMs = answer.number("parts_ms") ?? 0;
  const used = usedPartRows(answer);
  // A part of the total, as the average over steps is not: of several hosts a step is as long as on the slowest one.
  const inStepMs = answer.number("parts_in_step_ms") ?? 0;
  const source = answer.text("step_source");
  const hosts = severalHosts ? answer.text("hosts_shown") : "";
  return (
    <Section
      title={hasSteps ? t("Where the step's time goes") : parts.label}
      doc={joinSentences(parts.doc, coverageText(answer))}
      note={[
        ...(hasSteps ? [t("Steps: {source}", { source })] : []),
        ...(hosts ? [t("Shown: {hosts}", { hosts })] : []),
      ].join(" · ")}
      controls={
        <>
          <StepEventChoice answer={answer} />
          {hasSteps && <StepChoice />}
        </>
      }
    >
      <p class="extent">
        <b>{formatTime(totalMs)}</b>
        <Doubt depends={answer.fact("parts_ms").depends} />{" "}
        <span class="quiet">
          {hasTimeBetween &&
            formatTime(inStepMs) !== formatTime(totalMs) &&
            `${t("from step to step, {time} of it in the step", { time: formatTime(inStepMs) })} · `}
          {[averageText(answer), answer.text("parts_without")].filter(Boolean).join(" · ")}
        </span>
      </p>
      {around(
        <StackBar
          totalMs={totalMs}
          pieces={used.map((row) => ({
            part: partById(parts.text(row, "part")),
            label: parts.text(row, "label"),
            ms: parts.numberOrZero(row, "average_ms"),
            doc: parts.text(row, "doc"),
          }))}
        />,
      )}
      <ul class="key">
        {used.map((row) => (
          <LegendEntry key={parts.text(row, "part")} parts={parts} row={row} />
        ))}
      </ul>
    </Section>
  );
}
