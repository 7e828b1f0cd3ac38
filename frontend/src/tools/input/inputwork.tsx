/** What the host's input pipeline spends its time on, op by op, and the advice that fits. */

import { formatTime } from "../../base/format";
import { t } from "../../base/messages";
import { partById } from "../../base/parts";
import type { Row, Table } from "../../base/table";
import { linkToOpEvents } from "../../state/links";
import { Grid } from "../../view/grid";
import type { ColumnSpecs } from "../../view/gridmodel";
import { Section } from "../../view/section";
import { StackBar, StackTable } from "../../view/stackbar";
import { Guide } from "../../view/textparts";
import { exportName, type PageProps } from "../page";

const SPECS: ColumnSpecs = { self_share: { bar: true }, category: { facet: true } };

/** The kinds of work that took time, the longest first. */
export function workByTime(work: Table): Row[] {
  return work.rows
    .filter((row) => work.numberOrZero(row, "time_ms") > 0)
    .sort((a, b) => work.numberOrZero(b, "time_ms") - work.numberOrZero(a, "time_ms"));
}

function AdviceItem({ work, row }: { work: Table; row: Row }) {
  return (
    <li>
      {work.text(row, "advice")} <Guide url={work.text(row, "guide")} />
      <span class="gain">{t("{time} of input work", { time: formatTime(work.numberOrZero(row, "time_ms")) })}</span>
    </li>
  );
}

export function InputWork({ page }: { page: PageProps }) {
  const { answer, store } = page;
  const [work, ops] = [answer.table("input_work"), answer.table("input_ops")];
  const totalMs = answer.number("input_work_ms") ?? 0;
  const workWithAdvice = workByTime(work).filter((row) => work.text(row, "advice"));
  const pieces = work.rows.map((row) => ({
    part: partById(`input_${work.text(row, "work")}`),
    label: work.text(row, "label"),
    ms: work.numberOrZero(row, "time_ms"),
    doc: work.text(row, "doc"),
  }));
  return (
    <>
      <Section title={work.label} doc={work.doc}>
        {totalMs > 0 ? (
          <>
            <StackBar pieces={pieces} totalMs={totalMs} />
            <StackTable pieces={pieces} totalMs={totalMs} sumLabel={answer.fact("input_work_ms").label} />
          </>
        ) : (
          <p class="nothing">
            {t(
              "No op of an input pipeline was recorded on this host. tf.data shows up with host tracer level 2 or higher; of PyTorch's DataLoader only the waiting does, and other loaders do not show up at all.",
            )}
          </p>
        )}
      </Section>
      {ops.rows.length > 0 && (
        <Section title={ops.label} doc={ops.doc}>
          <Grid
            table={ops}
            specs={SPECS}
            name={exportName(page, "input_ops")}
            id="ops"
            sort={[{ id: "self_ms", desc: true }]}
            link={(row) => linkToOpEvents(store, ops.text(row, "name"))}
          />
        </Section>
      )}
      {workWithAdvice.length > 0 && (
        <Section title={t("What to do")} doc={t("Advice for the work that took time here, the largest first.")}>
          <ul class="statements">
            {workWithAdvice.map((row) => (
              <AdviceItem key={work.text(row, "work")} work={work} row={row} />
            ))}
          </ul>
        </Section>
      )}
    </>
  );
}
