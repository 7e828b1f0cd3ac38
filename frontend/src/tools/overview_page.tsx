/** Why is the step slow? The answer, where the time goes, which ops cost most, and what to do next. */

import { useMemo } from "preact/hooks";
import { tableAt } from "../base/datatable";
import { Grid } from "../view/grid";
import { Section } from "../view/section";
import { StepChart } from "../view/stepchart";
import { level, Verdict } from "../view/verdict";
import { Breakdown } from "./overview/breakdown";
import { Diagnostics, Environment, Precisions } from "./overview/facts";
import { Hosts } from "./overview/hosts";
import { NextSteps } from "./overview/nextsteps";
import { TopOps } from "./overview/topops";
import { exportName, linkTo, type PageProps } from "./page";

export default function OverviewPage(props: PageProps) {
  const { data, store } = props;
  const tables = useMemo(
    () => ({
      analysis: tableAt(data, 0),
      steps: tableAt(data, 1),
      environment: tableAt(data, 2),
      recommendation: tableAt(data, 3),
      latency: tableAt(data, 4),
      diagnostics: tableAt(data, 6),
      summary: tableAt(data, 7),
      breakdown: tableAt(data, 8),
      hints: tableAt(data, 9),
      hosts: tableAt(data, 10),
    }),
    [data],
  );
  const { summary, recommendation } = tables;
  return (
    <>
      <Verdict
        level={level(summary.property("verdict_level"))}
        text={summary.property("verdict")}
        doubt={summary.property("verdict_doubt")}
        next={linkTo(store, summary.property("verdict_tool"))}
      />
      <Diagnostics table={tables.diagnostics} store={store} />
      <div class="columns wide-narrow">
        <Breakdown
          breakdown={tables.breakdown}
          steps={tables.steps}
          summary={summary}
          severalHosts={props.session.hosts.length > 1}
        />
        <div>
          <Environment environment={tables.environment} analysis={tables.analysis} summary={summary} store={store} />
          <Precisions analysis={tables.analysis} />
        </div>
      </div>
      {tables.steps.rows.length > 0 && (
        <StepChart steps={tables.steps} name={exportName(props, "steps")} store={store} />
      )}
      <Hosts hosts={tables.hosts} store={store} name={exportName(props, "hosts")} />
      <div class="columns halves">
        <TopOps analysis={tables.analysis} page={props} />
        <NextSteps
          hints={tables.hints}
          recommendation={recommendation}
          store={store}
          hasSteps={tables.steps.rows.length > 0}
        />
      </div>
      {tables.latency.rows.length > 0 && (
        <Section title="Inference latency" doc={tables.latency.doc("inference_latency")}>
          <Grid table={tables.latency} name={exportName(props, "latency")} id="latency" />
        </Section>
      )}
    </>
  );
}
