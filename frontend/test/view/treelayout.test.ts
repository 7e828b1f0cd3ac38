import { expect, it } from "vitest";
import { treeLayout } from "../../src/view/treelayout";

it("puts what feeds a node left of it, in the middle of it", () => {
  expect(treeLayout([-1, 0, 0])).toEqual([
    { column: 1, row: 0.5 },
    { column: 0, row: 0 },
    { column: 0, row: 1 },
  ]);
});

it("takes parents that lead into a circle, or nowhere, for none", () => {
  expect(treeLayout([1, 0, 1, 9, 3]).map(({ column }) => column)).toEqual([1, 1, 1, 1, 0]);
});

it("lays out more nodes than a call takes arguments, beside each other and in a row", () => {
  const many = 200_000;
  const wide = treeLayout(Array.from({ length: many }, (_, node) => (node ? 0 : -1)));
  expect(wide[0]).toEqual({ column: 1, row: (many - 2) / 2 });
  const deep = treeLayout(Array.from({ length: many }, (_, node) => node - 1));
  expect(deep[0]).toEqual({ column: many - 1, row: 0 });
});
