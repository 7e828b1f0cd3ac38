/** The input pipeline as a graph, with its figures as a table and those of the picked node beside it. */

import { useMemo, useState } from "preact/hooks";
import type { Table } from "../../base/datatable";
import { time } from "../../base/format";
import { Graph } from "../../view/graph";
import { Grid } from "../../view/grid";
import type { ColumnSpec } from "../../view/gridmodel";
import { Section } from "../../view/section";
import { GoLink } from "../../view/verdict";
import { exportName, linkTo, type PageProps } from "../page";
import { callGraph, choices, stageGraph, where } from "./model";

const SPECS: Readonly<Record<string, ColumnSpec>> = {
  host: { hidden: true },
  input_pipeline: { hidden: true },
  rank: { hidden: true },
  stage: { hidden: true },
  name: { hidden: true },
  parent: { hidden: true },
  path: { hidden: true },
  type: { hidden: true },
  asynchronous: { hidden: true },
  event: { hidden: true },
  start_us: { hidden: true },
  held_us: { hidden: true },
  element_wait_us: { hidden: true },
  iterators: { hidden: true },
  dataset: { hidden: true },
  settings: { hidden: true },
  share: { bar: true },
};
const ALL = "all";

interface Choice {
  readonly host: string;
  readonly pipeline: string;
  /** A rank, or `ALL`. */
  readonly call: string;
}

interface SelectProps {
  readonly label: string;
  readonly value: string;
  readonly values: readonly (readonly [string, string])[];
  readonly choose: (value: string) => void;
}

function Select({ label, value, values, choose }: SelectProps) {
  return (
    <label>
      {label}{" "}
      <select value={value} onChange={(event) => choose(event.currentTarget.value)}>
        {values.map(([key, text]) => (
          <option key={key} value={key}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

interface PipelineGraphProps {
  readonly pipelines: Table;
  readonly stages: Table;
  readonly calls: Table;
  readonly page: PageProps;
}

export function PipelineGraph({ pipelines, stages, calls, page }: PipelineGraphProps) {
  const first = pipelines.rows[0] ?? [];
  const [choice, setChoice] = useState<Choice>({
    host: pipelines.text(first, "host"),
    pipeline: pipelines.text(first, "input_pipeline"),
    call: ALL,
  });
  const [picked, setPicked] = useState(-1);
  const { host, pipeline, call } = choice;
  const mine = useMemo(() => where(calls, { host, input_pipeline: pipeline }), [calls, host, pipeline]);
  const shown = useMemo(
    () => (call === ALL ? where(stages, { host, input_pipeline: pipeline }) : where(mine, { rank: call })),
    [stages, mine, host, pipeline, call],
  );
  const nodes = useMemo(() => (call === ALL ? stageGraph(shown) : callGraph(shown)), [shown, call]);
  const choose = (change: Partial<Choice>) => {
    setChoice({ ...choice, ...change });
    setPicked(-1);
  };
  const hosts = choices(pipelines, "host");
  const names = choices(where(pipelines, { host }), "input_pipeline");
  const controls = (
    <>
      {hosts.length > 1 && (
        <Select
          label="Host"
          value={host}
          values={hosts.map((name) => [name, name])}
          choose={(value) =>
            choose({
              host: value,
              pipeline: choices(where(pipelines, { host: value }), "input_pipeline")[0] ?? "",
              call: ALL,
            })
          }
        />
      )}
      {names.length > 1 && (
        <Select
          label="Pipeline"
          value={pipeline}
          values={names.map((name) => [name, name])}
          choose={(value) => choose({ pipeline: value, call: ALL })}
        />
      )}
      <Select label="Calls" value={call} values={rankNames(mine)} choose={(value) => choose({ call: value })} />
    </>
  );
  return (
    <Section
      title="Input pipeline graph"
      doc="Rebuilt from the trace, across threads. Data flows from left to right; the program takes elements at the right end."
      controls={controls}
    >
      <Graph label={`Graph of ${pipeline}`} nodes={nodes} selected={picked} onSelect={setPicked} legend={<Legend />} />
      {shown.rows[picked] && <Details table={shown} place={picked} page={page} />}
      <Grid key={`${host}${pipeline}${call}`} table={shown} specs={SPECS} name={exportName(page, "nodes")} />
    </Section>
  );
}

/** All calls together, then each described call by its rank and latency. */
function rankNames(calls: Table): [string, string][] {
  const latencies = new Map<string, number>();
  for (const row of calls.rows) {
    const rank = calls.text(row, "rank");
    latencies.set(rank, (latencies.get(rank) ?? 0) + calls.number(row, "critical_us"));
  }
  const names = [...latencies].map(([rank, us]): [string, string] => [
    rank,
    `${rank === "0" ? "slowest" : `rank ${rank}`}: ${time(us, "us")}`,
  ]);
  return [[ALL, "all together"], ...names];
}

function Legend() {
  return (
    <>
      <span class="graph-key main">
        <i /> bottleneck
      </span>
      <span class="graph-key">
        <i /> on the critical path
      </span>
      <span class="graph-key aside">
        <i /> beside it
      </span>
      <span class="graph-key asynchronous">
        <i /> on other threads
      </span>
    </>
  );
}

/** Everything known about one node. */
function Details({ table, place, page }: { table: Table; place: number; page: PageProps }) {
  const row = table.rows[place] ?? [];
  const next = linkTo(page.store, "trace_viewer");
  return (
    <div class="node-details">
      <p>
        <b>{table.text(row, "label")}</b> <span class="longname">{table.text(row, "long_name")}</span>{" "}
        {next && <GoLink {...next} label="Its events in the Timeline" />}
      </p>
      {table.text(row, "settings") && <p class="quiet">{table.text(row, "settings")}</p>}
      <dl class="node-figures">
        {table.columns
          .filter(({ unit }) => unit === "us")
          .map(({ id, label, doc }) => (
            <div key={id}>
              <dt data-tip={doc} class="explained">
                {label}
              </dt>
              <dd>{time(table.number(row, id), "us")}</dd>
            </div>
          ))}
      </dl>
    </div>
  );
}
