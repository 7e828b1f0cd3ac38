/** Step time against the wait for input: statistics, and a chart over the steps. */

import { useCallback, useMemo } from "preact/hooks";
import { formatPercent, formatScaled, timeScale } from "../../base/format";
import { t } from "../../base/messages";
import type { Answer } from "../../base/table";
import { ChartSection } from "../../view/chartsection";
import { DeltaCell, DeltaHead } from "../../view/delta";
import type { Palette } from "../../view/palette";
import { stackedOption } from "../../view/stackedchart";
import { exportName, type PageProps } from "../page";
import { chartTable, stackedSteps, stepLinker } from "../steps/stepchart";
import { BASE_PART_SPECS, partLayer } from "../steps/stepparts";

interface StatisticsRowProps {
  readonly answer: Answer;
  readonly label: string;
  /** What stands before and behind the figure's name in the facts: `step_average_ms`. */
  readonly factAffixes: readonly [string, string];
  /** Whether there is more than one value. */
  readonly hasSeveralSteps: boolean;
  readonly show: (value: number) => string;
}

function hasBaseline(answer: Answer): boolean {
  return answer.factIds.includes("delta_step_average_ms");
}

function StatisticsRow({ answer, label, factAffixes: [prefix, suffix], hasSeveralSteps, show }: StatisticsRowProps) {
  const figure = (name: string) => {
    const value = answer.number(`${prefix}_${name}${suffix}`);
    return value === null ? "" : show(value);
  };
  const delta = answer.number(`delta_${prefix}_average${suffix}`);
  return (
    <tr>
      <th scope="row">
        <span class="explained" data-tip={answer.fact(`${prefix}_average${suffix}`).doc}>
          {label}
        </span>
      </th>
      <td class="number">{figure("average")}</td>
      {hasBaseline(answer) && <DeltaCell delta={delta} show={show} />}
      {hasSeveralSteps && (
        <>
          <td class="number">{figure("deviation")}</td>
          <td class="number">
            {figure("minimum")} – {figure("maximum")}
          </td>
        </>
      )}
    </tr>
  );
}

function Statistics({ answer }: { answer: Answer }) {
  const hasSeveralSteps = answer.number("step_deviation_ms") !== null;
  const scale = timeScale(answer.number("step_average_ms") ?? 0);
  const show = (value: number) => formatScaled(value, scale);
  return (
    <table class="legend statistics">
      <thead>
        <tr>
          <th scope="col">
            {t("Over {count, plural, one {# step} other {# steps}}", { count: answer.number("steps_kept") ?? 0 })}
          </th>
          <th scope="col" class="number">
            {t("Average")}
          </th>
          {hasBaseline(answer) && <DeltaHead />}
          {hasSeveralSteps && (
            <>
              <th scope="col" class="number" data-tip={t("Sample standard deviation")}>
                σ
              </th>
              <th scope="col" class="number">
                {t("Range")}
              </th>
            </>
          )}
        </tr>
      </thead>
      <tbody>
        <StatisticsRow
          answer={answer}
          label={t("Step time, {unit}", { unit: scale.unit })}
          factAffixes={["step", "_ms"]}
          hasSeveralSteps={hasSeveralSteps}
          show={show}
        />
        <StatisticsRow
          answer={answer}
          label={t("Wait for input, {unit}", { unit: scale.unit })}
          factAffixes={["input", "_ms"]}
          hasSeveralSteps={hasSeveralSteps}
          show={show}
        />
        {(answer.number("input_between_average_ms") ?? 0) > 0 && (
          <StatisticsRow
            answer={answer}
            label={t("Wait between steps, {unit}", { unit: scale.unit })}
            factAffixes={["input_between", "_ms"]}
            hasSeveralSteps={false}
            show={show}
          />
        )}
        <StatisticsRow
          answer={answer}
          label={t("Share in each step")}
          factAffixes={["input_share", ""]}
          hasSeveralSteps={hasSeveralSteps}
          show={(value) => formatPercent(value)}
        />
      </tbody>
    </table>
  );
}

export function WaitChart({ page }: { page: PageProps }) {
  const { answer } = page;
  const steps = answer.table("steps");
  const chart = useMemo(() => {
    const wait = { ...partLayer(steps, "input"), label: t("Wait for input") };
    return stackedSteps(answer, [wait, partLayer(steps, "rest", "other")]);
  }, [answer]);
  const table = useMemo(() => chartTable(steps), [steps]);
  const build = useCallback((palette: Palette) => stackedOption(chart, palette), [chart]);
  return (
    <ChartSection
      title={t("Step time and wait for input")}
      doc={t(
        "Step times, and the part of them spent waiting for input while devices are idle. Click a column for its events on the Timeline.",
      )}
      label={t("Step time and wait for input over {count} steps", { count: chart.columns.length })}
      height={220}
      build={build}
      table={table}
      specs={BASE_PART_SPECS}
      name={exportName(page, "steps")}
      id="steps"
      link={stepLinker(page.store, table)}
    >
      <Statistics answer={answer} />
    </ChartSection>
  );
}
