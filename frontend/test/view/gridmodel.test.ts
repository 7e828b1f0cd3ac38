import { describe, expect, it } from "vitest";
import { facetValues, gridModel, present } from "../../src/view/gridmodel";
import { column, table } from "../table";

const TABLE = table(
  [
    column("op", "string", { label: "Operation" }),
    column("where", "string"),
    column("time", "number", { label: "Total time", unit: "us", doc: "How long." }),
    column("step", "number", { unit: "ms" }),
    column("share", "number", { unit: "share" }),
    column("count", "number"),
    column("used", "boolean"),
    column("unknown", "number"),
  ],
  [
    ["MatMul", "Device", 2500, 12, 0.25, 4, true, null],
    ["Cast", "Host", 30, 0.5, 0.0001, 12000, false, null],
    ["matmul_grad", "Device", null, 3, 0.5, 1, null, null],
  ],
);

const shown = (id: string) => {
  const { columns, rows } = present(TABLE);
  const place = columns.findIndex((column) => column.id === id);
  return rows.map((row) => columns[place]?.show(row[place] ?? null).replaceAll("\u202f", " "));
};

function modelOf(sort: { id: string; desc: boolean }[] = []) {
  const model = gridModel(present(TABLE), sort);
  return { model, ops: () => model.getRowModel().rows.map((row) => row.original[0]) };
}

describe("presentation", () => {
  it("shows all times of a table in one unit", () => {
    expect(shown("time")).toEqual(["2.500", "0.030", ""]);
    expect(shown("step")).toEqual(["12.000", "0.500", "3.000"]);
    expect(present(TABLE).columns.find(({ id }) => id === "time")).toMatchObject({
      label: "Total time",
      unit: "ms",
      doc: "How long.",
      numeric: true,
    });
  });

  it("shows shares, counts and truths", () => {
    expect(shown("share")).toEqual(["25.0", "< 0.1", "50.0"]);
    expect(shown("count")).toEqual(["4", "12 000", "1"]);
    expect(shown("used")).toEqual(["yes", "–", ""]);
  });

  it("draws bars against the largest value", () => {
    const { columns } = present(TABLE, { share: { bar: true } });
    const fill = columns.find(({ id }) => id === "share")?.fill;
    expect([fill?.(0.5), fill?.(0.25), fill?.(null)]).toEqual([1, 0.5, 0]);
  });

  it("hides columns of which nothing is known when asked", () => {
    const hidden = (hideEmpty: boolean, specs = {}) =>
      present(TABLE, specs, hideEmpty).columns.flatMap((column) => (column.hidden ? [column.id] : []));
    expect(hidden(false)).toEqual([]);
    expect(hidden(true)).toEqual(["unknown"]);
    expect(hidden(true, { unknown: { hidden: false }, op: { hidden: true } })).toEqual(["op"]);
  });
});

describe("the model", () => {
  it("sorts numbers, largest first at the first click, nothing last", () => {
    const { model, ops } = modelOf();
    model.getColumn("time")?.toggleSorting();
    expect(ops()).toEqual(["MatMul", "Cast", "matmul_grad"]);
    model.getColumn("time")?.toggleSorting();
    expect(ops()).toEqual(["Cast", "MatMul", "matmul_grad"]);
  });

  it("starts with the wanted order", () => {
    expect(modelOf([{ id: "share", desc: true }]).ops()).toEqual(["matmul_grad", "MatMul", "Cast"]);
  });

  it("finds rows which hold every word, in any column and case", () => {
    const { model, ops } = modelOf();
    model.setGlobalFilter("matmul device");
    expect(ops()).toEqual(["MatMul", "matmul_grad"]);
    model.setGlobalFilter("grad");
    expect(ops()).toEqual(["matmul_grad"]);
    model.setGlobalFilter(undefined);
    expect(ops().length).toBe(3);
  });

  it("keeps only one value of a column", () => {
    const { model, ops } = modelOf();
    model.getColumn("where")?.setFilterValue("Host");
    expect(ops()).toEqual(["Cast"]);
  });

  it("counts the values to choose from", () => {
    expect(facetValues(TABLE.rows, 1)).toEqual([
      ["Device", 2],
      ["Host", 1],
    ]);
  });
});
