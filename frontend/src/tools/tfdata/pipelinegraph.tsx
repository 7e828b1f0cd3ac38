/** The input pipeline as a graph, with its figures as a table and those of the picked node beside it. */

import { useMemo } from "preact/hooks";
import { formatTime } from "../../base/format";
import { t } from "../../base/messages";
import type { Answer, Row, Table } from "../../base/table";
import { type Link, linkToEvent } from "../../state/links";
import type { Options } from "../../state/optionstore";
import { useChoices } from "../../view/choices";
import { Grid } from "../../view/grid";
import { type ColumnSpecs, columnSpecs } from "../../view/gridmodel";
import { Section } from "../../view/section";
import { LabelledSelect } from "../../view/select";
import { TreeGraph } from "../../view/treegraph";
import { ViewLink } from "../../view/viewlink";
import { exportName, type PageProps } from "../page";
import { callGraph, stageGraph } from "./graphnodes";

const SPECS: ColumnSpecs = {
  share: { bar: true },
  ...columnSpecs(
    "host input_pipeline rank stage name parent path type asynchronous event start_us held_us element_wait_us iterators dataset settings",
    { hidden: true },
  ),
};
const ALL_CALLS = "all";

interface GraphChoice {
  readonly host: string;
  readonly pipeline: string;
  /** A rank, or `ALL_CALLS`. */
  readonly call: string;
}

interface GraphControlsProps {
  readonly answer: Answer;
  readonly choice: GraphChoice;
  readonly choose: (change: Partial<GraphChoice>) => void;
}

function GraphControls({ answer, choice, choose }: GraphControlsProps) {
  const { host, pipeline, call } = choice;
  const pipelines = answer.table("pipelines");
  const hosts = pipelines.distinct("host");
  const names = pipelines.where({ host }).distinct("input_pipeline");
  return (
    <>
      {hosts.length > 1 && (
        <LabelledSelect
          label={t("Host")}
          value={host}
          options={hosts.map((name) => [name, name])}
          choose={(value) => choose({ host: value, pipeline: "", call: "" })}
        />
      )}
      {names.length > 1 && (
        <LabelledSelect
          label={t("Pipeline")}
          value={pipeline}
          options={names.map((name) => [name, name])}
          choose={(value) => choose({ pipeline: value, call: "" })}
        />
      )}
      <LabelledSelect
        label={t("Calls")}
        value={call}
        options={callOptions(answer.table("requests").where({ host, input_pipeline: pipeline }))}
        choose={(value) => choose({ call: value === ALL_CALLS ? "" : value })}
      />
    </>
  );
}

export function PipelineGraph({ page }: { page: PageProps }) {
  const { answer } = page;
  const [pipelines, stages, calls] = [answer.table("pipelines"), answer.table("stages"), answer.table("calls")];
  const [choices, change] = useChoices();
  const { host, pipeline, call } = graphChoice(pipelines, choices);
  const pipelineCalls = useMemo(() => calls.where({ host, input_pipeline: pipeline }), [calls, host, pipeline]);
  const nodeTable = useMemo(
    () => (call === ALL_CALLS ? stages.where({ host, input_pipeline: pipeline }) : pipelineCalls.where({ rank: call })),
    [stages, pipelineCalls, host, pipeline, call],
  );
  const pipelineTable = pipelines.where({ host, input_pipeline: pipeline });
  const delaysSteps = pipelineTable.rows.some((row) => pipelineTable.cell(row, "delays_steps") === true);
  const nodes = useMemo(
    () => (call === ALL_CALLS ? stageGraph(nodeTable, delaysSteps) : callGraph(nodeTable, delaysSteps)),
    [nodeTable, call, delaysSteps],
  );
  const rank = call === ALL_CALLS ? "" : call;
  const choose = (now: Partial<GraphChoice>) =>
    change({
      "graph.host": host,
      "graph.pipeline": pipeline,
      "graph.call": rank,
      ...choiceOptions(now),
      "graph.node": "",
    });
  const selectedIndex = nodeTable.rows.findIndex((row) => choices["graph.node"] === nodeKey(nodeTable, row));
  const selectNode = (node: number) => change({ "graph.node": nodeKey(nodeTable, nodeTable.rows[node] ?? []) });
  return (
    <Section
      title={t("Input pipeline graph")}
      doc={t("Graph rebuilt from the trace. Data flows from left to right, to the program.")}
      controls={<GraphControls answer={answer} choice={{ host, pipeline, call }} choose={choose} />}
    >
      <TreeGraph
        label={t("Graph of {pipeline}", { pipeline })}
        nodes={nodes}
        selected={selectedIndex}
        onSelect={selectNode}
        legend={<GraphLegend delaysSteps={delaysSteps} />}
      />
      {nodeTable.rows[selectedIndex] && <NodeDetails table={nodeTable} place={selectedIndex} page={page} />}
      <Grid
        key={`${host}${pipeline}${call}`}
        table={nodeTable}
        specs={SPECS}
        name={exportName(page, "nodes")}
        id="nodes"
        link={(row) => linkToNodeEvent(page, nodeTable, row)}
      />
    </Section>
  );
}

/** What the address says, as far as this session has it; else the first pipeline, whose call was the slowest. */
function graphChoice(pipelines: Table, choices: Options): GraphChoice {
  const first = (table: Table, id: string, wanted: string | undefined) => {
    const known = table.distinct(id);
    return wanted !== undefined && known.includes(wanted) ? wanted : (known[0] ?? "");
  };
  const host = first(pipelines, "host", choices["graph.host"]);
  const pipeline = first(pipelines.where({ host }), "input_pipeline", choices["graph.pipeline"]);
  return { host, pipeline, call: choices["graph.call"] || ALL_CALLS };
}

function choiceOptions(choice: Partial<GraphChoice>): Options {
  return Object.fromEntries(Object.entries(choice).map(([key, value]) => [`graph.${key}`, value]));
}

/** Tells a node from the others: a stage's number, or an iterator's id. */
function nodeKey(table: Table, row: Row): string {
  return table.text(row, table.has("stage") ? "stage" : "name");
}

/** The event that stands for a node: a stage's longest call, or an iterator's first call for the request. */
function linkToNodeEvent({ store, session }: PageProps, table: Table, row: Row): Link | undefined {
  return linkToEvent(store, session.hosts.indexOf(table.text(row, "host")), table.numberOrZero(row, "event"));
}

/** All calls together, then each described call by its rank and latency. */
function callOptions(requests: Table): [string, string][] {
  const names = requests.rows.map((row): [string, string] => {
    const rank = requests.text(row, "rank");
    const latency = formatTime(requests.numberOrZero(row, "latency_us"), "us");
    return [
      rank,
      rank === "0" ? t("slowest: {time}", { time: latency }) : t("rank {rank}: {time}", { rank, time: latency }),
    ];
  });
  return [[ALL_CALLS, t("all together")], ...names];
}

function GraphLegend({ delaysSteps }: { delaysSteps: boolean }) {
  return (
    <>
      {delaysSteps && (
        <span class="graph-key main">
          <i /> {t("bottleneck")}
        </span>
      )}
      <span class="graph-key">
        <i /> {t("on the critical path")}
      </span>
      <span class="graph-key aside">
        <i /> {t("off the critical path")}
      </span>
      <span class="graph-key asynchronous">
        <i /> {t("on other threads")}
      </span>
    </>
  );
}

/** Everything known about one node. */
function NodeDetails({ table, place, page }: { table: Table; place: number; page: PageProps }) {
  const row = table.rows[place] ?? [];
  const next = linkToNodeEvent(page, table, row);
  const label = table.has("stage") ? t("Its longest call on the timeline") : t("Its call on the timeline");
  return (
    <div class="node-details">
      <p>
        <b>{table.text(row, "label")}</b> <span class="longname">{table.text(row, "long_name")}</span>{" "}
        {next && <ViewLink {...next} label={label} />}
      </p>
      {table.text(row, "settings") && <p class="quiet">{table.text(row, "settings")}</p>}
      <dl class="node-figures">
        {table.columns
          .filter(({ id, unit }) => unit === "us" && table.number(row, id) !== null)
          .map(({ id, label, doc }) => (
            <div key={id}>
              <dt data-tip={doc} class="explained">
                {label}
              </dt>
              <dd>{formatTime(table.numberOrZero(row, id), "us")}</dd>
            </div>
          ))}
      </dl>
    </div>
  );
}
