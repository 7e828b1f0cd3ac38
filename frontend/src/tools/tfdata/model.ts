/** The pipelines of a tf.data answer, and the graph of one of them, over all calls or for one. */

import { percent, plural, time } from "../../base/format";
import type { Row, Table } from "../../base/table";
import type { Emphasis, GraphNode } from "../../view/graph";

const EMPHASIS: readonly Emphasis[] = ["aside", "path", "main"];

/** Those rows of a table that hold these values. */
export function where(table: Table, wanted: Readonly<Record<string, string>>): Table {
  const wants = Object.entries(wanted);
  return table.filter((row) => wants.every(([id, value]) => table.text(row, id) === value));
}

/** The values of a column, in the order of the table. */
export function distinct(table: Table, id: string): string[] {
  return [...new Set(table.rows.map((row) => table.text(row, id)))];
}

function node(table: Table, row: Row, type: string, parent: number): GraphNode {
  const us = (id: string) => time(table.length(row, id), "us");
  return {
    title: table.text(row, "label"),
    lines: [
      `start ${us("start_us")}`,
      `total ${us("total_us")}`,
      `self ${us("self_us")}`,
      `waits on input ${us("wait_us")}`,
      `${plural(table.length(row, "num_calls"), "call")} · blame ${percent(table.length(row, "share"), 0)}`,
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

/** The transformations of one pipeline over all calls. */
export function stageGraph(stages: Table): GraphNode[] {
  const places = new Map(stages.rows.map((row, index) => [stages.length(row, "stage"), index]));
  const nodes = stages.rows.map((row) => node(stages, row, "path", places.get(stages.length(row, "parent")) ?? -1));
  return acrossThreads(nodes, stages);
}

/** The iterators of one call. */
export function callGraph(call: Table): GraphNode[] {
  const places = new Map(call.rows.map((row, index) => [call.text(row, "name"), index]));
  const nodes = call.rows.map((row) => node(call, row, "type", places.get(call.text(row, "parent")) ?? -1));
  return acrossThreads(nodes, call);
}
