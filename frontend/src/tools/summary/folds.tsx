/** The details behind the headline, each part folded into a line that tells its result. */

import { formatPercent, formatTime, formatValue } from "../../base/format";
import { t } from "../../base/messages";
import type { Answer } from "../../base/table";
import { worstFirst } from "../../state/doubts";
import { Fold } from "../../view/fold";
import { Findings } from "../../view/problems";
import type { PageProps } from "../page";
import { Causes, causesText, isPerStep } from "./causes";
import { Environment, Precisions } from "./environment";
import { DeviceTables, deviceTableIds, FoldTable } from "./foldtables";
import { HostComparison } from "./hostcomparison";
import { OpSlider } from "./opslider";
import { PartsTable } from "./partstable";
import { TopOps } from "./topops";
import { WallClock } from "./wallclock";

interface FoldsProps {
  readonly page: PageProps;
  /** Null until it is there. */
  readonly why: Answer | null;
  /** Whether the page was opened for the causes. */
  readonly showsCauses: boolean;
}

/** The first texts of a column, as many as fit into a line. */
function firstTexts(answer: Answer, table: string, column: string, most: number): string {
  const rowsOfTable = answer.table(table);
  return rowsOfTable.rows
    .slice(0, most)
    .map((row) => rowsOfTable.text(row, column))
    .join(" · ");
}

function pathText(why: Answer): string {
  const path = why.table("path").where({ name: "" });
  return path.rows
    .slice(0, 4)
    .map((row) => `${path.text(row, "label")} ${formatPercent(path.numberOrZero(row, "share"))}`)
    .join(" · ");
}

function whatIfText(why: Answer): string {
  const scenarios = why.table("scenarios");
  const [row] = scenarios.rows;
  if (!row) return "";
  const figures = {
    cause: scenarios.text(row, "label"),
    time: formatTime(scenarios.numberOrZero(row, "period_ps"), "ps"),
  };
  return isPerStep(why) ? t("{time} per step without {cause}", figures) : t("{time} without {cause}", figures);
}

function CauseFolds({ page, why, showsCauses }: { page: PageProps; why: Answer; showsCauses: boolean }) {
  const has = (table: string) => why.table(table).rows.length > 0;
  return (
    <>
      {has("causes") && (
        <Fold id="causes" title={t("All causes")} line={causesText(why)} isTarget={showsCauses}>
          {() => <Causes page={page} why={why} />}
        </Fold>
      )}
      {has("scenarios") && (
        <Fold id="whatif" title={t("What if")} line={whatIfText(why)}>
          {() => (
            <>
              <OpSlider page={page} why={why} />
              <FoldTable page={page} answer={why} id="scenarios" />
            </>
          )}
        </Fold>
      )}
      {has("path") && (
        <Fold id="path" title={t("Critical path")} line={pathText(why)}>
          {() => <FoldTable page={page} answer={why} id="path" />}
        </Fold>
      )}
      {has("unusual") && (
        <Fold id="unusual" title={t("Unusual steps")} line={firstTexts(why, "unusual", "why", 2)}>
          {() => <FoldTable page={page} answer={why} id="unusual" />}
        </Fold>
      )}
      {deviceTableIds(why).length > 0 && (
        <Fold
          id="devices"
          title={t("Devices")}
          line={t("{count, plural, one {# device} other {# devices}}", { count: why.table("devices").rows.length })}
        >
          {() => <DeviceTables page={page} answer={why} />}
        </Fold>
      )}
    </>
  );
}

export function Folds({ page, why, showsCauses }: FoldsProps) {
  const { answer, store } = page;
  const problems = store.details.state.value.value?.problems ?? [];
  const device = answer.fact("device_type");
  const environment = [
    formatValue(device.value, device.unit),
    t("{count, plural, one {# host} other {# hosts}}", { count: answer.number("tasks") ?? 0 }),
  ];
  return (
    <div class="folds">
      {why && <CauseFolds page={page} why={why} showsCauses={showsCauses} />}
      <Fold id="parts" title={t("All figures")} line={t("all parts of the time; wall-time breakdown")}>
        {() => (
          <div class="columns halves">
            <PartsTable answer={answer} />
            {why && <WallClock answer={why} />}
          </div>
        )}
      </Fold>
      <Fold id="ops" title={answer.table("top_ops").label} line={firstTexts(answer, "top_ops", "name", 3)}>
        {() => <TopOps page={page} />}
      </Fold>
      {answer.table("hosts").rows.length > 1 && (
        <Fold id="hosts" title={answer.table("hosts").label} line={answer.text("hosts_compared")}>
          {() => <HostComparison page={page} />}
        </Fold>
      )}
      <Fold id="environment" title={t("Environment")} line={environment.filter(Boolean).join(" · ")}>
        {() => (
          <div class="columns halves">
            <Environment answer={answer} store={store} />
            <Precisions answer={answer} />
          </div>
        )}
      </Fold>
      {problems.length > 0 && (
        <Fold
          id="notes"
          title={t("Capture: {count, plural, one {# note} other {# notes}}", { count: problems.length })}
          line={worstFirst(problems)[0]?.message}
        >
          {() => <Findings problems={problems} />}
        </Fold>
      )}
    </div>
  );
}
