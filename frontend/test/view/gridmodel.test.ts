import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readGridChoice } from "../../src/base/gridcodec";
import { type Column, Table, type Value } from "../../src/base/table";
import { applyGridChoice, createGridModel, presentTable } from "../../src/view/gridmodel";
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
  const { columns, rows } = presentTable(TABLE);
  const place = columns.findIndex((column) => column.id === id);
  return rows.map((row) => columns[place]?.show(row[place] ?? null).replaceAll("\u202f", " "));
};

function modelOf(sort: { id: string; desc: boolean }[] = []) {
  const model = createGridModel(presentTable(TABLE), sort);
  return { model, ops: () => model.getRowModel().rows.map((row) => row.original[0]) };
}

describe("presentation", () => {
  it("calls values by their names, and keeps the values", () => {
    const marked = table(
      [column("match", "string"), column("part", "string")],
      [
        ["new", "compute"],
        ["gone", "x"],
      ],
    );
    const { columns, rows } = presentTable(marked, { part: { facet: true, names: { compute: "Compute" } } });
    const said = columns.map(({ show }, place) => rows.map((row) => show(row[place] ?? null)));
    expect(said).toEqual([
      ["only here", "only in the baseline"],
      ["Compute", "x"],
    ]);
    expect(columns.map(({ choices }) => choices.map(([value]) => value))).toEqual([
      ["new", "gone"],
      ["compute", "x"],
    ]);
  });

  it("shows all times of a table in one unit", () => {
    expect(shown("time")).toEqual(["2.500", "0.030", ""]);
    expect(shown("step")).toEqual(["12.000", "0.500", "3.000"]);
    expect(presentTable(TABLE).columns.find(({ id }) => id === "time")).toMatchObject({
      label: "Total time",
      unit: "ms",
      doc: "How long.",
      numeric: true,
    });
  });

  it("shows shares, counts and truths", () => {
    expect(shown("share")).toEqual(["25.0", "< 0.1", "50.0"]);
    expect(shown("count")).toEqual(["4", "12,000", "1"]);
    expect(shown("used")).toEqual(["yes", "–", ""]);
  });

  it("draws bars against the largest value", () => {
    const { columns } = presentTable(TABLE, { share: { bar: true } });
    const fill = columns.find(({ id }) => id === "share")?.fill;
    expect([fill?.(0.5), fill?.(0.25), fill?.(null)]).toEqual([1, 0.5, 0]);
  });

  it("hides columns of which nothing is known when asked", () => {
    const hidden = (hideEmpty: boolean, specs = {}) =>
      presentTable(TABLE, specs, hideEmpty).columns.flatMap((column) => (column.hidden ? [column.id] : []));
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
    const { columns } = presentTable(TABLE, { where: { facet: true } });
    expect(columns.map(({ choices }) => choices)).toEqual(
      TABLE.columns.map(({ id }) =>
        id === "where"
          ? [
              ["Device", 2],
              ["Host", 1],
            ]
          : [],
      ),
    );
  });
});

interface Case {
  readonly why: string;
  readonly sort?: string;
  readonly find?: string;
  readonly only?: Record<string, string>;
  readonly without?: Record<string, string>;
  readonly rows: number[];
}

/** A table and which rows of it are chosen; the server is held to the same. */
const CASES = JSON.parse(readFileSync(join(import.meta.dirname, "../../../tests/rows.json"), "utf-8")) as {
  columns: { id: string; kind: Column["kind"]; values: Value[] }[];
  choices: Case[];
};

describe("rows as the server chooses them of long tables", () => {
  const places = CASES.columns[0]?.values.map((_, row) => [
    ...CASES.columns.map(({ values }) => values[row] ?? null),
    row,
  ]);
  const all = table([...CASES.columns.map(({ id, kind }) => column(id, kind)), column("row")], places ?? []);

  it.each(CASES.choices)("$why", ({ sort = "", find = "", only = {}, without = {}, rows }) => {
    const some = Object.entries(without).reduce((kept, [id, text]) => kept.withoutText(id, text), all);
    const presented = presentTable(some);
    const model = createGridModel(presented, []);
    const ids = some.columns.map(({ id }) => id);
    const choice = readGridChoice({ "t.sort": sort }, "t", ids, []);
    applyGridChoice(model, presented, { ...choice, find, only });
    expect(model.getRowModel().rows.map(({ original }) => original.at(-1))).toEqual(rows);
  });
});

it("knows of a table that is here in part what the answer tells of its other rows", () => {
  const of = (values: Value[], summary: Column["summary"]) => ({ ...column("n"), values, summary: summary as never });
  const count = of([5], { largest: 12_345.5, whole: false, known: true, choices: [] });
  const name = {
    ...of(["a"], { largest: 0, whole: true, known: true, choices: [{ value: "b", rows: 2 }] }),
    id: "s",
    kind: "string" as const,
  };
  const columnsOf = [
    { ...count, unit: "us", values: [12_345.5, 5] },
    { ...name, values: ["b", "a"] },
  ];
  const raw = { label: "", doc: "", rows: 4, columns: columnsOf };
  const source = { rows: async () => raw, file: () => "", csv: async () => "" };
  const part = Table.fromAnswer(raw, source);
  const { columns, rows } = presentTable(part, { n: { bar: true }, s: { facet: true } });
  const without = part.withoutText("s", "b");
  expect([without.total, presentTable(without, { s: { facet: true } }).columns[1]?.choices]).toEqual([2, []]);
  expect(without.columns[0]?.summary?.largest).toBe(5);
  expect(part.withoutText("s", "a").columns[0]?.summary?.largest).toBe(12_345.5);
  expect(rows).toEqual([]);
  expect(columns.map(({ unit, choices }) => [unit, choices])).toEqual([
    ["ms", []],
    ["", [["b", 2]]],
  ]);
  expect(columns[0]?.fill?.(6172.75)).toBe(0.5);
});
