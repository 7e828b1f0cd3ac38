/** Step time against the wait for input: statistics, and a chart over the steps. */

import { useCallback, useMemo } from "preact/hooks";
import { percent, scaled, timeScale } from "../../base/format";
import { t } from "../../base/messages";
import type { Answer } from "../../base/table";
import { DeltaHead, deltaClass } from "../../view/delta";
import type { Palette } from "../../view/palette";
import { ChartSection, stackedOption } from "../../view/stacked";
import { exportName, type PageProps } from "../page";
import { stacked, stepLink, twinOf } from "../steps/chart";
import { BASE_PARTS, layer } from "../steps/parts";

interface StatisticsRowProps {
  readonly answer: Answer;
  readonly label: string;
  /** What stands before and behind the figure's name in the facts: `step_average_ms`. */
  readonly of: readonly [string, string];
  /** Whether there is more than one value. */
  readonly several: boolean;
  readonly show: (value: number) => string;
}

/** Whether there is a baseline. */
function held(answer: Answer): boolean {
  return answer.factIds.includes("delta_step_average_ms");
}

function StatisticsRow({ answer, label, of: [what, unit], several, show }: StatisticsRowProps) {
  const figure = (name: string) => {
    const value = answer.number(`${what}_${name}${unit}`);
    return value === null ? "" : show(value);
  };
  const delta = answer.number(`delta_${what}_average${unit}`);
  return (
    <tr>
      <th scope="row">
        <span class="explained" data-tip={answer.fact(`${what}_average${unit}`).doc}>
          {label}
        </span>
      </th>
      <td class="number">{figure("average")}</td>
      {held(answer) && (
        <td class={`number ${deltaClass(delta)}`}>{delta !== null && `${delta > 0 ? "+" : ""}${show(delta)}`}</td>
      )}
      {several && (
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
  const several = answer.number("step_deviation_ms") !== null;
  const scale = timeScale(answer.number("step_average_ms") ?? 0);
  const show = (value: number) => scaled(value, scale);
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
          {held(answer) && <DeltaHead />}
          {several && (
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
          of={["step", "_ms"]}
          several={several}
          show={show}
        />
        <StatisticsRow
          answer={answer}
          label={t("Wait for input, {unit}", { unit: scale.unit })}
          of={["input", "_ms"]}
          several={several}
          show={show}
        />
        <StatisticsRow
          answer={answer}
          label={t("Share of the step")}
          of={["input_share", ""]}
          several={several}
          show={(value) => percent(value)}
        />
      </tbody>
    </table>
  );
}

export function WaitChart({ page }: { page: PageProps }) {
  const { answer } = page;
  const steps = answer.table("steps");
  const of = useMemo(() => {
    const wait = { ...layer(steps, "input"), label: t("Wait for input") };
    return stacked(answer, [wait, layer(steps, "rest", "other")]);
  }, [answer]);
  const twin = useMemo(() => twinOf(steps), [steps]);
  const build = useCallback((palette: Palette) => stackedOption(of, palette), [of]);
  return (
    <ChartSection
      title={t("Step time and wait for input")}
      doc={t(
        "Step times, and the part of them spent waiting for input while devices are idle. Click a column for its events on the Timeline.",
      )}
      label={t("Step time and wait for input over {count} steps", { count: of.columns.length })}
      height={220}
      build={build}
      table={twin}
      specs={BASE_PARTS}
      name={exportName(page, "steps")}
      id="steps"
      link={stepLink(page.store, twin)}
    >
      <Statistics answer={answer} />
    </ChartSection>
  );
}
