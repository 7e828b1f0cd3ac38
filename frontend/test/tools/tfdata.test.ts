import { describe, expect, it } from "vitest";
import type { Table } from "../../src/base/table";
import { callGraph, stageGraph } from "../../src/tools/tfdata/graphnodes";
import { column, table as made } from "../table";

function table(ids: readonly string[], ...rows: readonly (string | number | boolean)[][]): Table {
  return made(
    ids.map((id) => column(id, "string", { doc: `about ${id}` })),
    rows,
  );
}

const FIGURES = ["start_us", "total_us", "self_us", "wait_us", "count", "share", "asynchronous"];
const zero = [0, 0, 0, 0];

describe("the graph over all calls", () => {
  const stages = table(
    ["stage", "parent", "label", "long_name", "path", ...FIGURES],
    [0, -1, "Root", "Iterator::Root", 1, ...zero, 5, 0.25, false],
    [1, 0, "Prefetch", "Iterator::Root::Prefetch", 2, ...zero, 5, 0.75, true],
    [2, 1, "Map", "Iterator::Root::Prefetch::Map", 0, ...zero, 9, 0, false],
  );
  const nodes = stageGraph(stages, true);

  it("follows stage numbers and tells path, bottleneck and what stands beside", () => {
    expect(nodes.map(({ parent }) => parent)).toEqual([-1, 0, 1]);
    expect(nodes.map(({ emphasis }) => emphasis)).toEqual(["path", "main", "aside"]);
  });

  it("has no bottleneck where steps do not wait for the pipeline", () => {
    expect(stageGraph(stages, false).map(({ emphasis }) => emphasis)).toEqual(["path", "path", "aside"]);
  });

  it("crosses threads into what is asynchronous, not out of it", () => {
    expect(nodes.map(({ asynchronous }) => asynchronous)).toEqual([false, false, true]);
  });

  it("says each node's share of the blame", () => {
    const blame = nodes.map(({ lines }) => lines.at(-1)?.replace(/\s/g, " "));
    expect(blame).toEqual(["5 calls · blame 25 %", "5 calls · blame 75 %", "9 calls · blame 0 %"]);
  });
});

describe("the graph of one call", () => {
  const ids = ["name", "parent", "label", "long_name", "type", ...FIGURES];

  it("follows iterators' ids, whatever the order of the rows", () => {
    const call = table(
      ids,
      ["77", "12", "Map", "Iterator::Root::Map", 2, ...zero, 1, 1, false],
      ["12", "", "Root", "Iterator::Root", 1, ...zero, 1, 0, false],
      ["80", "99", "Range", "Iterator::Root::Map::Range", 0, ...zero, 1, 0, false],
    );
    expect(callGraph(call, true).map(({ parent }) => parent)).toEqual([1, -1, -1]);
  });

  it("is empty without rows, and blames nobody where nothing took time", () => {
    expect(callGraph(table(ids), true)).toEqual([]);
    const [only] = callGraph(table(ids, ["1", "", "Root", "Iterator::Root", 7, ...zero, 1, 0, false]), true);
    expect(only?.emphasis).toBe("aside");
    expect(only?.lines.at(-1)?.replace(/\s/g, " ")).toBe("1 call · blame 0 %");
  });
});
