import { describe, expect, it } from "vitest";
import { Table } from "../../src/base/datatable";
import { facetValues, gridModel, plainLabel, present, withoutEmpty } from "../../src/view/gridmodel";

const TABLE = new Table({
  cols: [
    { id: "op", label: "Operation", type: "string" },
    { id: "where", label: "Where", type: "string" },
    { id: "time", label: "Total time (us)", type: "number", p: { unit: "us", doc: "How long." } },
    { id: "step", label: "Step time", type: "number", p: { unit: "ms" } },
    { id: "share", label: "Self (%)", type: "number", p: { unit: "percent" } },
    { id: "count", label: "#", type: "number" },
    { id: "used", label: "Used", type: "boolean" },
    { id: "tooltip", label: "tooltip", type: "string", p: { role: "tooltip" } },
    { id: "zero", label: "Zero", type: "number" },
  ],
  rows: [
    ["MatMul", "Device", 2500, 12, 0.25, 4, true, "", 0],
    ["Cast", "Host", 30, 0.5, 0.0001, 12000, false, "", 0],
    ["matmul_grad", "Device", null, 3, 0.5, 1, null, "", 0],
  ].map((cells) => ({ c: cells.map((v) => ({ v })) })),
});

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

  it("hides tooltips, and empty columns when asked", () => {
    const hidden = (specs: object) => present(TABLE, { ...specs }).columns.filter((column) => column.hidden);
    expect(hidden({}).map(({ id }) => id)).toEqual(["tooltip"]);
    expect(hidden(withoutEmpty(TABLE, {})).map(({ id }) => id)).toEqual(["tooltip", "zero"]);
  });

  it.each([
    ["Total time (us)", "Total time"],
    ["Total Time (in ms)", "Total Time"],
    ["Self (%)", "Self"],
    ["GFLOPs/Sec", "GFLOPs/Sec"],
  ])("takes the unit out of %s", (label, plain) => expect(plainLabel(label)).toBe(plain));
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
