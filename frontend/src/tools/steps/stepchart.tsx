/** Step time over steps as stacked columns, one colour per part; incomplete steps are pale and named so. */

import { useCallback, useMemo } from "preact/hooks";
import { isReport } from "../../api/client";
import { formatTime, timeScale } from "../../base/format";
import { joinNames, t } from "../../base/messages";
import type { Answer, Row, Table } from "../../base/table";
import { type Link, linkTo, linkToTime, TIMELINE } from "../../state/links";
import type { Store } from "../../state/store";
import { ChartSection } from "../../view/chartsection";
import { useChoice } from "../../view/choices";
import type { Palette } from "../../view/palette";
import { axisEndMs, type StackedChart, type StackedLayer, stackedOption } from "../../view/stackedchart";
import { exportName, type PageProps } from "../page";
import { LEFT_OUT_REASONS } from "./leftoutreasons";
import { BASE_PART_SPECS, baselineStepOf, partLayers, unusedPartColumns } from "./stepparts";

/** Columns of the answer's steps, made of these layers, with a line at the average. */
export function stackedSteps(answer: Answer, layers: readonly StackedLayer[]): StackedChart {
  const steps = answer.table("steps");
  const average = answer.number("step_average_ms");
  const columns = steps.rows.map((row) => {
    const [name, totalMs] = [steps.text(row, "name"), steps.numberOrZero(row, "duration_ms")];
    const leftOut = steps.text(row, "left_out");
    const reason = leftOut && t("not in the averages: {reason}", { reason: LEFT_OUT_REASONS[leftOut] ?? leftOut });
    const head = [t("Step {name}", { name }), formatTime(totalMs), reason].filter(Boolean).join(" · ");
    const base = baselineStepOf(steps, row, "duration_ms");
    return { name: leftOut === "cut" ? `${name} …` : name, head, totalMs, faded: leftOut !== "", base };
  });
  return {
    layers,
    columns,
    scale: timeScale(axisEndMs(columns)),
    axisName: t("Step"),
    line: average !== null && (answer.number("steps_kept") ?? 0) > 1 ? { label: t("mean"), value: average } : null,
    sliderFrom: 60,
  };
}

/** What the chart shows, for who does not see it. */
export function chartDescription({ columns, line }: StackedChart): string {
  const longest = columns.toSorted((one, other) => other.totalMs - one.totalMs)[0];
  return joinNames([
    t("Step time of {count, plural, one {# step} other {# steps}}", { count: columns.length }),
    ...(line ? [t("mean {time}", { time: formatTime(line.value) })] : []),
    ...(longest
      ? [t("longest step {name} with {time}", { name: longest.name, time: formatTime(longest.totalMs) })]
      : []),
  ]);
}

/** The events of a step, on the timeline. */
export function stepLinker(store: Store, steps: Table): ((row: Row) => Link | undefined) | undefined {
  if (!linkTo(store, TIMELINE)) return undefined;
  return (row) =>
    linkToTime(store, {
      beginMs: steps.numberOrZero(row, "begin_ms"),
      lengthMs: steps.numberOrZero(row, "duration_ms"),
    });
}

/** The chart's table, without parts in which no step spends time, and without what is the same for all steps. */
export function chartTable(steps: Table): Table {
  const cut = steps.rows.some((row) => steps.cell(row, "complete") === false);
  return steps.withoutColumns([...unusedPartColumns(steps), "number", ...(cut ? [] : ["complete"])]);
}

export function StepChart({ page }: { page: PageProps }) {
  const { answer, store } = page;
  const [chosenSteps, chooseSteps] = useChoice("steps");
  const steps = answer.table("steps");
  const chart = useMemo(() => stackedSteps(answer, partLayers(steps)), [answer]);
  const table = useMemo(() => chartTable(steps), [steps]);
  const build = useCallback((palette: Palette) => stackedOption(chart, palette), [chart]);
  const leftOutCount = steps.rows.filter((row) => steps.text(row, "left_out") !== "").length;
  const stepNumber = (place: number) =>
    steps.number(steps.rows[Math.min(place, steps.rows.length - 1)] ?? [], "number");
  const chooseRange = (first: number, last: number) => chooseSteps(`${stepNumber(first)}-${stepNumber(last)}`);
  return (
    <ChartSection
      title={t("Step-time graph")}
      doc={t(
        "Step times and what they are spent on. Drag over columns to choose steps for all pages. Click a column for its events on the Timeline, or a part in the legend to hide it. Zoom with Ctrl and the wheel.",
      )}
      note={[
        t("Drag over steps to choose them"),
        ...(answer.table("hosts").rows.length > 0 ? [t("Steps and mean are those of each step's slowest host")] : []),
        ...(leftOutCount > 0 ? [t("Averages leave out pale steps: {count}", { count: leftOutCount })] : []),
      ].join(" · ")}
      controls={
        chosenSteps && (
          <button type="button" class="button" onClick={() => chooseSteps("")}>
            {t("Typical steps again")}
          </button>
        )
      }
      onRange={isReport() ? undefined : chooseRange}
      label={chartDescription(chart)}
      height={260}
      build={build}
      table={table}
      specs={BASE_PART_SPECS}
      name={exportName(page, "steps")}
      id="steps"
      link={stepLinker(store, table)}
    />
  );
}
