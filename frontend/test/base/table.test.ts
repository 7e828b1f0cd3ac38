import { expect, it } from "vitest";
import { Answer, Table } from "../../src/base/table";
import { column, table as made } from "../table";

const RAW = {
  label: "Ops",
  doc: "All of them.",
  rows: 2,
  columns: [
    { ...column("op", "string", { doc: "The op." }), values: ["MatMul", "Cast"] },
    { ...column("time_us", "number", { unit: "us" }), values: [3.5, null] },
    { ...column("eager", "boolean"), values: [true, null] },
  ],
};

it("reads cells by column id; what is unknown is null, and nothing to draw", () => {
  const table = Table.fromAnswer(RAW);
  const [first = [], second = []] = table.rows;
  expect([table.text(first, "op"), table.number(first, "time_us"), table.cell(first, "eager")]).toEqual([
    "MatMul",
    3.5,
    true,
  ]);
  expect([
    table.cell(second, "nosuch"),
    table.number(second, "time_us"),
    table.numberOrZero(second, "time_us"),
    table.formatCell(second, "time_us", String),
  ]).toEqual([null, null, 0, ""]);
  expect(table.column("time_us")).toMatchObject({ unit: "us", doc: "", kind: "number" });
});

it("gives some of its rows and columns", () => {
  const table = Table.fromAnswer(RAW);
  const some = table.filter((row) => table.text(row, "op") === "Cast").pickColumns(["eager", "op", "nosuch"]);
  expect(some.rows).toEqual([[null, "Cast"]]);
  expect([some.label, some.columns.map(({ id }) => id)]).toEqual(["Ops", ["eager", "op"]]);
});

it("gives the rows that hold all wanted values, the values to choose from, and all but some columns", () => {
  const rows = [
    ["b", "Host:0"],
    ["a", "Host:0"],
    ["a", "Host:1"],
  ];
  const pipelines = made([column("host", "string"), column("pipeline", "string")], rows);
  const mine = pipelines.where({ host: "a", pipeline: "Host:0" });
  expect([mine.rows, mine.columns]).toEqual([[["a", "Host:0"]], pipelines.columns]);
  expect(pipelines.where({ host: "c" }).rows).toEqual([]);
  expect([pipelines.distinct("host"), pipelines.distinct("none")]).toEqual([["b", "a"], [""]]);
  expect(pipelines.withoutColumns(["host", "none"]).columns.map(({ id }) => id)).toEqual(["pipeline"]);
});

it("answers by name, with nothing where there is none", () => {
  const facts = {
    window_ms: { ...column("window_ms"), value: 2.5 },
    device: { ...column("device", "string"), value: "GPU" },
  };
  const answer = new Answer({ tool: "t", headline: null, facts, tables: { ops: RAW }, notes: [] });
  expect([answer.number("window_ms"), answer.number("device"), answer.text("device"), answer.text("no")]).toEqual([
    2.5,
    null,
    "GPU",
    "",
  ]);
  expect(answer.table("ops")).toBe(answer.table("ops"));
  expect(answer.table("nosuch").rows).toEqual([]);
});
