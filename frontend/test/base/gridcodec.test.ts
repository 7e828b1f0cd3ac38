import { expect, it } from "vitest";
import { type GridChoice, readGridChoice, writeGridChoice } from "../../src/base/gridcodec";

const IDS = ["op", "type", "total_time"];
const USUAL = [{ id: "total_time", desc: true }];
const NOTHING: GridChoice = { sort: USUAL, find: "", only: {}, columns: {} };

it("takes no room while everything is as usual", () => {
  expect(readGridChoice({}, "t", IDS, USUAL)).toEqual(NOTHING);
  expect(writeGridChoice({ idle: "in" }, "t", NOTHING, USUAL)).toEqual({ idle: "in" });
});

it.each<Partial<GridChoice>>([
  { sort: [] },
  { sort: [{ id: "op", desc: false }] },
  {
    sort: [
      { id: "type", desc: true },
      { id: "op", desc: false },
    ],
  },
  { find: "mat mul ~ü" },
  { only: { type: "Cast~x.y" } },
  { columns: { op: false, type: true } },
])("is read as it was written: %j", (part) => {
  const choice = { ...NOTHING, ...part };
  expect(readGridChoice(writeGridChoice({}, "t", choice, USUAL), "t", IDS, USUAL)).toEqual(choice);
});

it("replaces its own former choice and leaves other tables and options alone", () => {
  const before = { "t.find": "a", "t.only.type": "Cast", "t2.find": "b", "t.as": "table", idle: "in" };
  expect(writeGridChoice(before, "t", { ...NOTHING, find: "c" }, USUAL)).toEqual({
    "t.find": "c",
    "t2.find": "b",
    "t.as": "table",
    idle: "in",
  });
});

it("passes over columns that the table does not have", () => {
  const options = { "t.sort": "-gone~op", "t.only.gone": "x", "t.cols": "!gone~type" };
  expect(readGridChoice(options, "t", IDS, USUAL)).toEqual({
    ...NOTHING,
    sort: [{ id: "op", desc: false }],
    columns: { type: true },
  });
});
