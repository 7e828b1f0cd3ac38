/** Step time against the wait for input: statistics, and a chart over the steps. */

import { useCallback, useMemo } from "preact/hooks";
import type { Row, Table } from "../../base/datatable";
import { percent, plural, scaled, time, timeScale } from "../../base/format";
import { part } from "../../base/parts";
import { type Summary, summarize } from "../../base/statistics";
import type { Palette } from "../../view/palette";
import { ChartSection, type Stacked, stackedOption } from "../../view/stacked";
import { isIncomplete, measuredParts, stepLink, stepTime } from "../../view/stepchart";
import { exportName, type PageProps } from "../page";

/** Input columns of the generic and of the TPU step table. */
const INPUT_COLUMNS = ["infeedTimeMs", "tcInfeedTimeMs"];

interface Sample {
  readonly name: string;
  readonly step: number;
  readonly wait: number;
  readonly incomplete: boolean;
}

function samples(steps: Table): Sample[] {
  const parts = measuredParts(steps);
  const wait = (row: Row) => INPUT_COLUMNS.reduce((sum, id) => sum + steps.number(row, id), 0);
  return steps.rows.map((row) => ({
    name: steps.text(row, "stepnum"),
    step: stepTime(steps, row, parts),
    wait: wait(row),
    incomplete: isIncomplete(steps, row),
  }));
}

interface StatisticsRowProps {
  readonly label: string;
  readonly doc: string;
  readonly of: Summary;
  /** Whether there is more than one value. */
  readonly several: boolean;
  readonly show: (value: number) => string;
}

function StatisticsRow({ label, doc, of, several, show }: StatisticsRowProps) {
  return (
    <tr>
      <th scope="row">
        <span class="explained" data-tip={doc}>
          {label}
        </span>
      </th>
      <td class="number">{show(of.average)}</td>
      {several && (
        <>
          <td class="number">{show(of.sdv)}</td>
          <td class="number">
            {show(of.low)} – {show(of.high)}
          </td>
        </>
      )}
    </tr>
  );
}

function Statistics({ steps }: { steps: Table }) {
  const complete = useMemo(() => samples(steps).filter((sample) => !sample.incomplete), [steps]);
  const several = complete.length > 1;
  const times = summarize(complete.map(({ step }) => step));
  const waits = summarize(complete.map(({ wait }) => wait));
  const shares = summarize(complete.map(({ step, wait }) => (step > 0 ? wait / step : 0)));
  const scale = timeScale(times.average);
  const show = (value: number) => scaled(value, scale);
  return (
    <table class="legend statistics">
      <thead>
        <tr>
          <th scope="col">Over {plural(complete.length, "complete step")}</th>
          <th scope="col" class="number">
            Average
          </th>
          {several && (
            <>
              <th scope="col" class="number" data-tip="Sample standard deviation">
                σ
              </th>
              <th scope="col" class="number">
                Range
              </th>
            </>
          )}
        </tr>
      </thead>
      <tbody>
        <StatisticsRow
          label={`Step time, ${scale.unit}`}
          doc="From a step's begin to its end."
          of={times}
          several={several}
          show={show}
        />
        <StatisticsRow
          label={`Wait for input, ${scale.unit}`}
          doc="Time of the step in which it waits for data, or data is copied to the device, while no device computes."
          of={waits}
          several={several}
          show={show}
        />
        <StatisticsRow
          label="Share of the step"
          doc="The wait divided by the step time, step by step."
          of={shares}
          several={several}
          show={(value) => percent(value)}
        />
      </tbody>
    </table>
  );
}

function stacked(of: readonly Sample[]): Stacked {
  const complete = of.filter((sample) => !sample.incomplete);
  return {
    layers: [
      { label: "Wait for input", part: part("input"), values: of.map(({ wait }) => wait) },
      { label: "Everything else", part: part("other"), values: of.map(({ step, wait }) => step - wait) },
    ],
    columns: of.map(({ name, step, incomplete }) => ({
      name: incomplete ? `${name} …` : name,
      head: `Step ${name} · ${time(step)}${incomplete ? " · incomplete, not in the averages" : ""}`,
      total: step,
      faded: incomplete,
    })),
    scale: timeScale(summarize(of.map(({ step }) => step)).high),
    axisName: "Step",
    line: complete.length > 1 ? { label: "mean", value: summarize(complete.map(({ step }) => step)).average } : null,
    sliderFrom: 60,
  };
}

export function WaitChart({ steps, page }: { steps: Table; page: PageProps }) {
  const of = useMemo(() => stacked(samples(steps)), [steps]);
  const build = useCallback((palette: Palette) => stackedOption(of, palette), [of]);
  return (
    <ChartSection
      title="Step time and wait for input"
      doc="How long each step took, and in how much of it nothing else happened than waiting for input or bringing it to the device. Click a column for its events on the timeline."
      label={`Step time and wait for input over ${of.columns.length} steps`}
      height={220}
      build={build}
      twin={steps}
      name={exportName(page, "steps")}
      id="steps"
      link={stepLink(page.store, steps)}
    >
      <Statistics steps={steps} />
    </ChartSection>
  );
}
