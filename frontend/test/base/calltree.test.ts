import { describe, expect, it } from "vitest";
import { nameOf, treeOf, treeOfPaths } from "../../src/base/calltree";

describe("a tree of calls", () => {
  it("gives each node what those within it leave", () => {
    const node = (name: string, parent: number, total: number) => ({ name, parent, total, calls: 1 });
    const tree = treeOf([node("a", -1, 10), node("b", 0, 6), node("a", 1, 6), node("c", -1, 3)], "ps");
    expect(tree.own).toEqual([4, 0, 6, 3]);
    expect(tree.total_weight).toBe(13);
    expect(tree.names).toEqual(["a", "b", "c"]);
    expect(nameOf(tree, 2)).toBe("a");
  });

  it("joins what has the same path, and no other of the same name", () => {
    const tree = treeOfPaths(
      [
        ["model/conv/Conv2D", 8],
        ["model/Conv2D", 1],
        ["model/conv/Conv2D", 2],
      ],
      "bytes",
    );
    expect(tree.total).toEqual([11, 10, 10, 1]);
    expect(tree.own).toEqual([0, 0, 10, 1]);
    expect(tree.parent).toEqual([-1, 0, 1, 0]);
  });
});
