/** The pipelines of a tf.data answer, and the graph of one of them, over all calls or for one. */

import { percent, time } from "../../base/format";
import { t } from "../../base/messages";
import type { Row, Table } from "../../base/table";
import type { Emphasis, GraphNode } from "../../view/graph";

const EMPHASIS: readonly Emphasis[] = ["aside", "path", "main"];

function node(table: Table, row: Row, type: string, parent: number): GraphNode {
  const us = (id: string) => time(table.length(row, id), "us");
  return {
    title: table.text(row, "label"),
    lines: [
      t("start {time}", { time: us("start_us") }),
      t("total {time}", { time: us("total_us") }),
      t("self {time}", { time: us("self_us") }),
      t("waits on input {time}", { time: us("wait_us") }),
      [
        t("{count, plural, one {# call} other {# calls}}", { count: table.length(row, "count") }),
        t("blame {share}", { share: percent(table.length(row, "share"), 0) }),
      ].join(" · "),
    ],
    parent,
    emphasis: EMPHASIS[table.length(row, type)] ?? "aside",
    asynchronous: false,
    tip: table.text(row, "long_name"),
  };
}

/** What feeds an asynchronous iterator runs on other threads than it. */
function acrossThreads(nodes: readonly GraphNode[], table: Table): GraphNode[] {
  return nodes.map((each) => {
    const above = table.rows[each.parent];
    return { ...each, asynchronous: above !== undefined && table.cell(above, "asynchronous") === true };
  });
}

/** One node per row; `id` is the column that `parent` refers to. */
function graph(table: Table, id: string, emphasis: string): GraphNode[] {
  const places = new Map(table.rows.map((row, index) => [table.text(row, id), index]));
  const nodes = table.rows.map((row) => node(table, row, emphasis, places.get(table.text(row, "parent")) ?? -1));
  return acrossThreads(nodes, table);
}

/** The transformations of one pipeline over all calls. */
export const stageGraph = (stages: Table): GraphNode[] => graph(stages, "stage", "path");

/** The iterators of one call. */
export const callGraph = (call: Table): GraphNode[] => graph(call, "name", "type");
