/** The pipelines of a tf.data answer, and the graph of one of them, over all calls or for one. */

import { formatPercent, formatTime } from "../../base/format";
import { t } from "../../base/messages";
import type { Row, Table } from "../../base/table";
import type { Emphasis, GraphNode } from "../../view/treegraph";

const EMPHASIS: readonly Emphasis[] = ["aside", "path", "main"];

/** What is drawn of a pipeline's nodes. */
interface GraphShape {
  /** The column that `parent` refers to. */
  readonly id: string;
  readonly emphasis: string;
  /** Whether steps wait for the pipeline; of one that keeps up, the slowest node is no bottleneck. */
  readonly delaysSteps: boolean;
}

function graphNode(table: Table, row: Row, shape: GraphShape, parent: number): GraphNode {
  const emphasis = EMPHASIS[table.numberOrZero(row, shape.emphasis)] ?? "aside";
  const us = (id: string) => formatTime(table.numberOrZero(row, id), "us");
  return {
    title: table.text(row, "label"),
    lines: [
      t("start {time}", { time: us("start_us") }),
      t("total {time}", { time: us("total_us") }),
      t("self {time}", { time: us("self_us") }),
      t("waits on input {time}", { time: us("wait_us") }),
      [
        t("{count, plural, one {# call} other {# calls}}", { count: table.numberOrZero(row, "count") }),
        t("blame {share}", { share: formatPercent(table.numberOrZero(row, "share"), 0) }),
      ].join(" · "),
    ],
    parent,
    emphasis: emphasis === "main" && !shape.delaysSteps ? "path" : emphasis,
    asynchronous: false,
    tip: table.text(row, "long_name"),
  };
}

/** Marks the nodes whose parent is asynchronous: they run on other threads than it. */
function markAsynchronous(nodes: readonly GraphNode[], table: Table): GraphNode[] {
  return nodes.map((child) => {
    const parent = table.rows[child.parent];
    return { ...child, asynchronous: parent !== undefined && table.cell(parent, "asynchronous") === true };
  });
}

function graphNodes(table: Table, shape: GraphShape): GraphNode[] {
  const indexById = new Map(table.rows.map((row, index) => [table.text(row, shape.id), index]));
  const nodes = table.rows.map((row) => graphNode(table, row, shape, indexById.get(table.text(row, "parent")) ?? -1));
  return markAsynchronous(nodes, table);
}

/** The transformations of one pipeline over all calls. */
export function stageGraph(stages: Table, delaysSteps: boolean): GraphNode[] {
  return graphNodes(stages, { id: "stage", emphasis: "path", delaysSteps });
}

/** The iterators of one call. */
export function callGraph(call: Table, delaysSteps: boolean): GraphNode[] {
  return graphNodes(call, { id: "name", emphasis: "type", delaysSteps });
}
