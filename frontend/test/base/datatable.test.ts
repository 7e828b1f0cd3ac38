import { expect, it } from "vitest";
import { Table, tableAt, tablesOf } from "../../src/base/datatable";

const RAW = {
  cols: [
    { id: "op", label: "Op", type: "string", p: { doc: "The op." } },
    { id: "time", label: "Time", type: "number", p: { unit: "us" } },
    { id: "eager", label: "Eager", type: "boolean" },
  ],
  rows: [{ c: [{ v: "MatMul" }, { v: 3.5 }, { v: true }] }, { c: [{ v: "Cast" }, null] }],
  p: { share: "41.2%", empty: "", kind: "GPU" },
  docs: { share: "Of the step." },
};

it("reads cells by column id", () => {
  const table = new Table(RAW);
  const [first, second] = table.rows;
  expect([table.text(first ?? [], "op"), table.number(first ?? [], "time"), table.cell(first ?? [], "eager")]).toEqual([
    "MatMul",
    3.5,
    true,
  ]);
  expect([
    table.cell(second ?? [], "time"),
    table.number(second ?? [], "time"),
    table.cell(second ?? [], "nosuch"),
  ]).toEqual([null, 0, null]);
  expect(table.column("time")).toMatchObject({ unit: "us", doc: "", type: "number" });
});

it("reads properties as text and as figures", () => {
  const table = new Table(RAW);
  expect([table.property("share"), table.figure("share"), table.doc("share")]).toEqual(["41.2%", 41.2, "Of the step."]);
  expect([table.figure("empty"), table.figure("kind"), table.figure("nosuch"), table.property("nosuch")]).toEqual([
    null,
    null,
    null,
    "",
  ]);
});

it("finds the tables of any answer", () => {
  expect(tablesOf([RAW, {}, { cols: [], rows: [] }]).length).toBe(2);
  expect(tablesOf(RAW).length).toBe(1);
  expect(tablesOf({ podStatsSequence: {} })).toEqual([]);
  expect(tableAt([{}, RAW], 1).rows.length).toBe(2);
  expect(tableAt([], 7).rows).toEqual([]);
});
