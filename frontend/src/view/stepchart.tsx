/** Step time over steps as stacked columns, one colour per part; incomplete steps are pale and named so. */

import { useCallback, useMemo } from "preact/hooks";
import { time, timeScale } from "../base/format";
import { type Part, partOfColumn } from "../base/parts";
import { summarize } from "../base/statistics";
import type { Row, Table } from "../base/table";
import { eventsDuring, linkTo, TIMELINE, type Way } from "../state/links";
import type { Store } from "../state/store";
import type { Palette } from "./palette";
import { ChartSection, type Stacked, stackedOption } from "./stacked";

interface Measured {
  readonly id: string;
  readonly part: Part;
  readonly label: string;
}

/** The part columns of a step table, in stacking order, without those that are zero in every step. */
export function measuredParts(steps: Table): Measured[] {
  // The tables of TPUs have several columns of one part, which only their own labels tell apart.
  const generic = steps.has("stepTimeMs");
  return steps.columns
    .flatMap(({ id, label }) => {
      const part = partOfColumn(id);
      return part ? [{ id, part, label: generic ? part.label : label }] : [];
    })
    .filter(({ id }) => steps.rows.some((row) => steps.number(row, id) > 0));
}

/** The step's whole time; step tables of TPUs have no column for it. */
export function stepTime(steps: Table, row: Row, parts: readonly Measured[]): number {
  return steps.has("stepTimeMs")
    ? steps.number(row, "stepTimeMs")
    : parts.reduce((sum, { id }) => sum + steps.number(row, id), 0);
}

export function isIncomplete(steps: Table, row: Row): boolean {
  return steps.cell(row, "incomplete") === true;
}

/** Times of the complete steps, in ms. */
export function completeTimes(steps: Table): number[] {
  const parts = measuredParts(steps);
  return steps.rows.filter((row) => !isIncomplete(steps, row)).map((row) => stepTime(steps, row, parts));
}

function stacked(steps: Table): Stacked {
  const parts = measuredParts(steps);
  const columns = steps.rows.map((row) => {
    const total = stepTime(steps, row, parts);
    const faded = isIncomplete(steps, row);
    const name = steps.text(row, "stepnum");
    const head = `Step ${name} · ${time(total)}${faded ? " · incomplete, not in the averages" : ""}`;
    return { name: faded ? `${name} …` : name, head, total, faded };
  });
  const complete = columns.filter(({ faded }) => !faded);
  const mean = summarize(complete.map(({ total }) => total)).average;
  return {
    layers: parts.map(({ id, part, label }) => ({
      part,
      label,
      values: steps.rows.map((row) => steps.number(row, id)),
    })),
    columns,
    scale: timeScale(summarize(columns.map(({ total }) => total)).high),
    axisName: "Step",
    line: complete.length > 1 ? { label: "mean", value: mean } : null,
    sliderFrom: 60,
  };
}

/** The events of a step, on the timeline; step tables of TPUs do not say when a step began. */
export function stepLink(store: Store, steps: Table): ((row: Row) => Way | undefined) | undefined {
  if (!steps.has("begin_ms") || !linkTo(store, TIMELINE)) return undefined;
  return (row) => eventsDuring(store, steps.number(row, "begin_ms"), steps.number(row, "stepTimeMs"));
}

export function StepChart({ steps, name, store }: { steps: Table; name: string; store: Store }) {
  const of = useMemo(() => stacked(steps), [steps]);
  const build = useCallback((palette: Palette) => stackedOption(of, palette), [of]);
  const cut = of.columns.filter(({ faded }) => faded).length;
  return (
    <ChartSection
      title="Step-time graph"
      doc="How long each step took and what its time went into. Click a column for its events on the timeline, a part in the legend to leave it out; Ctrl and the wheel zoom."
      note={cut > 0 ? `${cut} incomplete, shown pale and left out of the averages` : undefined}
      label={`Step time of ${of.columns.length} steps, stacked by part`}
      height={260}
      build={build}
      twin={steps}
      name={name}
      id="steps"
      link={stepLink(store, steps)}
    />
  );
}
