import { expect, it } from "vitest";
import { type CallTree, nodesOfBase, pathTo } from "../../src/base/calltree";

const TREE: CallTree = {
  // step (load (read, decode), compute (old)), tail
  parent: [-1, 0, 1, 1, 0, 4, -1],
  name: [0, 1, 2, 3, 4, 5, 6],
  names: ["step", "load", "read", "decode", "compute", "old", "tail"],
  own: [0, 0, 0, 0, 50, 0, 10],
  total: [50, 0, 0, 0, 50, 0, 10],
  base_total: [125, 70, 60, 10, 55, 5, 0],
  delta: [-75, -70, -60, -10, -5, -5, 10],
  calls: [1, 0, 0, 0, 1, 0, 1],
  unit: "ps",
  total_weight: 60,
};

it("names what the baseline alone has once, the heaviest first", () => {
  const nodes = nodesOfBase(TREE);
  expect(nodes.map((node) => TREE.names[node])).toEqual(["load", "old"]);
  // All that is less in the tree is told.
  expect(nodes.reduce((sum, node) => sum + (TREE.base_total?.[node] ?? 0), 0)).toBe(75);
  expect(pathTo(TREE, 5)).toEqual([0, 4, 5]);
});

it("names nothing without a baseline", () => {
  const { base_total: _, ...alone } = TREE;
  expect(nodesOfBase(alone)).toEqual([]);
});
