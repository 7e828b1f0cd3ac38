/** The pipelines of a tf.data answer, and the graph of one of them, over all calls or for one. */

import { percent, plural, time } from "../../base/format";
import type { Row, Table } from "../../base/table";
import type { Emphasis, GraphNode } from "../../view/graph";

const EMPHASIS: readonly Emphasis[] = ["aside", "path", "main"];

function node(table: Table, row: Row, type: string, parent: number): GraphNode {
  const us = (id: string) => time(table.length(row, id), "us");
  return {
    title: table.text(row, "label"),
    lines: [
      `start ${us("start_us")}`,
      `total ${us("total_us")}`,
      `self ${us("self_us")}`,
      `waits on input ${us("wait_us")}`,
      `${plural(table.length(row, "count"), "call")} · blame ${percent(table.length(row, "share"), 0)}`,
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
