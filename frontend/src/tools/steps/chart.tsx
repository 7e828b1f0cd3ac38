/** Step time over steps as stacked columns, one colour per part; incomplete steps are pale and named so. */

import { useCallback, useMemo } from "preact/hooks";
import { isReport } from "../../api/client";
import { time, timeScale } from "../../base/format";
import { joinNames, t } from "../../base/messages";
import type { Answer, Row, Table } from "../../base/table";
import { type Link, linkTo, linkToTime, TIMELINE } from "../../state/links";
import type { Store } from "../../state/store";
import { useChoice } from "../../view/choices";
import type { Palette } from "../../view/palette";
import { axisEndMs, ChartSection, type StackedChart, type StackedLayer, stackedOption } from "../../view/stacked";
import { exportName, type PageProps } from "../page";
import { LEFT_OUT } from "./leftout";
import { BASE_PARTS, baseOf, layersOf, partsWithout } from "./parts";

/** Columns of the answer's steps, made of these layers, with a line at the average. */
export function stacked(answer: Answer, layers: readonly StackedLayer[]): StackedChart {
  const steps = answer.table("steps");
  const average = answer.number("step_average_ms");
  const columns = steps.rows.map((row) => {
    const [name, total] = [steps.text(row, "name"), steps.length(row, "duration_ms")];
    const left = steps.text(row, "left_out");
    const reason = left && t("not in the averages: {reason}", { reason: LEFT_OUT[left] ?? left });
    const head = [t("Step {name}", { name }), time(total), reason].filter(Boolean).join(" · ");
    const base = baseOf(steps, row, "duration_ms");
    return { name: left === "cut" ? `${name} …` : name, head, total, faded: left !== "", base };
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
export function nameOf({ columns, line }: StackedChart): string {
  const longest = columns.toSorted((one, other) => other.total - one.total)[0];
  return joinNames([
    t("Step time of {count, plural, one {# step} other {# steps}}", { count: columns.length }),
    ...(line ? [t("mean {time}", { time: time(line.value) })] : []),
    ...(longest ? [t("longest step {name} with {time}", { name: longest.name, time: time(longest.total) })] : []),
  ]);
}

/** The events of a step, on the timeline. */
export function stepLink(store: Store, steps: Table): ((row: Row) => Link | undefined) | undefined {
  if (!linkTo(store, TIMELINE)) return undefined;
  return (row) => linkToTime(store, steps.length(row, "begin_ms"), steps.length(row, "duration_ms"));
}

/** The chart's table, without parts in which no step spends time, and without what is the same for all steps. */
export function twinOf(steps: Table): Table {
  const cut = steps.rows.some((row) => steps.cell(row, "complete") === false);
  return steps.without([...partsWithout(steps), "number", ...(cut ? [] : ["complete"])]);
}

export function StepChart({ page }: { page: PageProps }) {
  const { answer, store } = page;
  const [chosen, choose] = useChoice("steps");
  const steps = answer.table("steps");
  const of = useMemo(() => stacked(answer, layersOf(steps)), [answer]);
  const twin = useMemo(() => twinOf(steps), [steps]);
  const build = useCallback((palette: Palette) => stackedOption(of, palette), [of]);
  const left = steps.rows.filter((row) => steps.text(row, "left_out") !== "").length;
  const number = (place: number) => steps.number(steps.rows[Math.min(place, steps.rows.length - 1)] ?? [], "number");
  const range = (first: number, last: number) => choose(`${number(first)}-${number(last)}`);
  return (
    <ChartSection
      title={t("Step-time graph")}
      doc={t(
        "Step times and what they are spent on. Drag over columns to choose steps for all pages. Click a column for its events on the Timeline, or a part in the legend to hide it. Zoom with Ctrl and the wheel.",
      )}
      note={[
        t("Drag over steps to choose them"),
        ...(left > 0 ? [t("{count} shown pale are left out of the averages", { count: left })] : []),
      ].join(" · ")}
      controls={
        chosen && (
          <button type="button" class="button" onClick={() => choose("")}>
            {t("Typical steps again")}
          </button>
        )
      }
      onRange={isReport() ? undefined : range}
      label={nameOf(of)}
      height={260}
      build={build}
      table={twin}
      specs={BASE_PARTS}
      name={exportName(page, "steps")}
      id="steps"
      link={stepLink(store, twin)}
    />
  );
}
