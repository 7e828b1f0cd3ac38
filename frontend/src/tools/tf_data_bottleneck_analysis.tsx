/** Does tf.data keep up, which transformation holds it up, and what is the code that helps? */

import { Fragment } from "preact";
import { formatTime } from "../base/format";
import { joinSentences, t } from "../base/messages";
import type { Row, Table } from "../base/table";
import { withUnitsBesideFigures } from "../base/text";
import { Grid } from "../view/grid";
import { type ColumnSpecs, columnSpecs } from "../view/gridmodel";
import { Section } from "../view/section";
import { withElements } from "../view/slots";
import { Code } from "../view/textparts";
import { LevelMark, toLevel, Verdict } from "../view/verdict";
import { exportName, type PageProps } from "./page";
import { LatencyHistogram } from "./tfdata/latencyhistogram";
import { PipelineGraph } from "./tfdata/pipelinegraph";

const PIPELINE_SPECS: ColumnSpecs = {
  host: { facet: true },
  ...columnSpecs("total_us filling_calls not_recorded_us", { hidden: true }),
};

const LONG_NAME_DOC = joinSentences(
  t("A long name is the path from the program to the iterator; :: leads to the iterator's input."),
  t("[i] counts inputs (zip, concatenate), elements (interleave) or epochs (repeat)."),
);

export default function TfDataPage(props: PageProps) {
  const { answer } = props;
  const pipelines = answer.table("pipelines");
  return (
    <>
      {answer.headline && <Verdict {...answer.headline} />}
      <div class="columns halves">
        <Checklist checks={answer.table("checks")} />
        <div>
          <Bottleneck bottlenecks={answer.table("bottlenecks")} advice={answer.table("advice")} />
          <LatencyHistogram latencies={answer.table("latencies")} name={exportName(props, "latencies")} />
        </div>
      </div>
      <Section title={pipelines.label} doc={pipelines.doc}>
        <Grid
          table={pipelines}
          specs={PIPELINE_SPECS}
          name={exportName(props, "pipelines")}
          id="pipelines"
          sort={[{ id: "longest_us", desc: true }]}
        />
      </Section>
      {pipelines.rows.length > 0 && <PipelineGraph page={props} />}
      {answer.notes.length > 0 && (
        <ul class="statements">
          {answer.notes.map(({ message }) => (
            <li key={message}>{message}</li>
          ))}
        </ul>
      )}
    </>
  );
}

function Checklist({ checks }: { checks: Table }) {
  return (
    <Section title={checks.label} doc={checks.doc}>
      <table class="checks">
        <tbody>
          {checks.rows.map((row) => (
            <tr key={checks.text(row, "id")}>
              <td>
                <LevelMark level={toLevel(checks.text(row, "level"))} />
              </td>
              <td>{checks.text(row, "question")}</td>
              <td>
                <b>{checks.text(row, "answer")}</b>
                <div class="quiet">{withUnitsBesideFigures(checks.text(row, "evidence"))}</div>
                {checks.text(row, "todo") && <div>{checks.text(row, "todo")}</div>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Section>
  );
}

/** The slowest pipeline of the most input-bound host, and what to do about it. */
function Bottleneck({ bottlenecks, advice }: { bottlenecks: Table; advice: Table }) {
  const row = bottlenecks.rows[0];
  if (!row) return null;
  const host = bottlenecks.text(row, "host");
  const pipeline = bottlenecks.text(row, "input_pipeline");
  const pipelineAdvice = advice.where({ host, input_pipeline: pipeline });
  const us = (id: string) => formatTime(bottlenecks.numberOrZero(row, id), "us");
  return (
    <Section
      title={t("What to do")}
      doc={t("Advice for the pipeline with the slowest call, the largest potential saving first.")}
      note={t("{pipeline} on {host}, slowest call {time}", { pipeline, host, time: us("longest_us") })}
    >
      {bottlenecks.text(row, "overall") && (
        <p>
          {withElements(t("Over all calls: {stage}, {time}", { time: us("overall_us") }), {
            stage: <b>{bottlenecks.text(row, "overall")}</b>,
          })}
          <br />
          <span class="longname explained" data-tip={LONG_NAME_DOC}>
            <LongName text={bottlenecks.text(row, "overall_long_name")} />
          </span>
          <br />
          <span class="quiet">
            {t("In the slowest call: {stage}, {time}", {
              stage: bottlenecks.text(row, "bottleneck"),
              time: us("bottleneck_us"),
            })}
          </span>
        </p>
      )}
      {pipelineAdvice.rows.length === 0 && <p class="nothing">{t("Nothing; this pipeline makes no step longer.")}</p>}
      <ol class="hints">
        {pipelineAdvice.rows.map((adviceRow) => (
          <Advice key={pipelineAdvice.text(adviceRow, "finding")} table={pipelineAdvice} row={adviceRow} />
        ))}
      </ol>
    </Section>
  );
}

/** Breaks between its parts where it is too long for a line. */
function LongName({ text }: { text: string }) {
  return (
    <>
      {text.split("::").map((part, index) => (
        <Fragment key={index}>
          {index > 0 && "::"}
          <wbr />
          {part}
        </Fragment>
      ))}
    </>
  );
}

function Advice({ table, row }: { table: Table; row: Row }) {
  const gain = table.numberOrZero(row, "gain_ms");
  return (
    <li class="hint">
      <LevelMark level={toLevel(table.text(row, "level"))} />
      <div>
        <b>{table.text(row, "title")}</b>
        {gain > 0 && (
          <span class="gain" data-tip={table.column("gain_ms")?.doc}>
            {t("at most {time} per step", { time: formatTime(gain) })}
          </span>
        )}
        <div>{table.text(row, "evidence")}</div>
        {table.text(row, "code") && <Code text={table.text(row, "code")} />}
      </div>
    </li>
  );
}
