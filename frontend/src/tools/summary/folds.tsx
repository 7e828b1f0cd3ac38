/** The details behind the headline, each part folded into a line that tells its result. */

import { formatted, percent, time } from "../../base/format";
import { t } from "../../base/messages";
import type { Answer } from "../../base/table";
import { Fold } from "../../view/fold";
import { Findings, worstFirst } from "../../view/problems";
import type { PageProps } from "../page";
import { Causes, causesLine } from "./causes";
import { Environment, Precisions } from "./facts";
import { Devices, deviceTables, Figures } from "./figures";
import { Hosts } from "./hosts";
import { PartsTable } from "./parts";
import { TopOps } from "./topops";
import { WallClock } from "./wallclock";
import { OpSlider } from "./whatif";

interface FoldsProps {
  readonly page: PageProps;
  /** Null until it is there. */
  readonly why: Answer | null;
  /** Whether the page was opened for the causes. */
  readonly asked: boolean;
}

/** The first texts of a column, as many as fit into a line. */
function firstTexts(of: Answer, table: string, column: string, most: number): string {
  const shownTable = of.table(table);
  return shownTable.rows
    .slice(0, most)
    .map((row) => shownTable.text(row, column))
    .join(" · ");
}

function pathLine(why: Answer): string {
  const path = why.table("path");
  return path.rows
    .filter((row) => path.text(row, "name") === "")
    .slice(0, 4)
    .map((row) => `${path.text(row, "label")} ${percent(path.length(row, "share"))}`)
    .join(" · ");
}

function whatIfLine(why: Answer): string {
  const scenarios = why.table("scenarios");
  const [row] = scenarios.rows;
  return row
    ? t("without {cause}: {time}", {
        cause: scenarios.text(row, "label"),
        time: time(scenarios.length(row, "period_ps"), "ps"),
      })
    : "";
}

function CauseFolds({ page, why, asked }: { page: PageProps; why: Answer; asked: boolean }) {
  const has = (table: string) => why.table(table).rows.length > 0;
  return (
    <>
      {has("causes") && (
        <Fold id="causes" title={t("All causes")} line={causesLine(why)} isTarget={asked}>
          {() => <Causes page={page} why={why} />}
        </Fold>
      )}
      {has("scenarios") && (
        <Fold id="whatif" title={t("What if")} line={whatIfLine(why)}>
          {() => (
            <>
              <OpSlider page={page} why={why} />
              <Figures page={page} of={why} id="scenarios" />
            </>
          )}
        </Fold>
      )}
      {has("path") && (
        <Fold id="path" title={t("Critical path")} line={pathLine(why)}>
          {() => <Figures page={page} of={why} id="path" />}
        </Fold>
      )}
      {has("unusual") && (
        <Fold id="unusual" title={t("Unusual steps")} line={firstTexts(why, "unusual", "why", 2)}>
          {() => <Figures page={page} of={why} id="unusual" />}
        </Fold>
      )}
      {deviceTables(why).length > 0 && (
        <Fold
          id="devices"
          title={t("Devices")}
          line={t("{count, plural, one {# device} other {# devices}}", { count: why.table("devices").rows.length })}
        >
          {() => <Devices page={page} of={why} />}
        </Fold>
      )}
    </>
  );
}

export function Folds({ page, why, asked }: FoldsProps) {
  const { answer, store } = page;
  const problems = store.details.state.value.value?.problems ?? [];
  const device = answer.fact("device_type");
  const environment = [
    formatted(device.value, device.unit),
    t("{count, plural, one {# host} other {# hosts}}", { count: answer.number("hosts") ?? 0 }),
  ];
  return (
    <div class="folds">
      {why && <CauseFolds page={page} why={why} asked={asked} />}
      <Fold
        id="parts"
        title={t("All figures of the step")}
        line={t("all parts within and after the step; wall-time breakdown")}
      >
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
          {() => <Hosts page={page} />}
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
