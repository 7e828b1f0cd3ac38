import { describe, expect, it } from "vitest";
import { workByTime } from "../../src/tools/input/inputwork";
import { podSteps } from "../../src/tools/pod/podsteps";
import { chartDescription, chartTable, stackedSteps } from "../../src/tools/steps/stepchart";
import { partLayers, partPieces, usedPartIds } from "../../src/tools/steps/stepparts";
import { averageText } from "../../src/tools/summary/stepbar";
import { answer } from "../table";

const steps = {
  name: ["1", "train 2"],
  duration_ms: [5, 3],
  compute_ms: [3, 1],
  copies_ms: [0, 0],
  input_ms: [2, 2],
  complete: [false, true],
  left_out: ["cut", null],
  begin_ms: [0, 5],
};

describe("the steps", () => {
  const found = answer({ steps_kept: 1, step_average_ms: 3 }, { steps });
  const table = found.table("steps");

  it("keep the order of parts of all pages, without those that take no time", () => {
    expect(usedPartIds(table)).toEqual(["compute", "input"]);
    expect(partLayers(table).map(({ label, valuesMs }) => [label, valuesMs])).toEqual([
      ["compute_ms", [3, 1]],
      ["input_ms", [2, 2]],
    ]);
    expect(partPieces(table, table.rows[1] ?? []).map(({ part, ms }) => [part.id, ms])).toEqual([
      ["compute", 1],
      ["input", 2],
    ]);
  });

  it("show incomplete ones pale, and an average only of several", () => {
    const { columns, line } = stackedSteps(found, partLayers(table));
    expect(columns.map(({ name, totalMs, faded }) => [name, totalMs, faded])).toEqual([
      ["1 …", 5, true],
      ["train 2", 3, false],
    ]);
    expect(line).toBeNull();
    const several = answer({ steps_kept: 2, step_average_ms: 4 }, { steps });
    expect(stackedSteps(several, []).line).toEqual({ label: "mean", value: 4 });
    expect(chartDescription(stackedSteps(several, []))).toMatch(
      /^Step time of \d+ steps?, mean 4.00.ms, longest step /,
    );
  });

  it("have a table without what says nothing", () => {
    const ids = (of: typeof table) => chartTable(of).columns.map(({ id }) => id);
    expect(ids(table)).toEqual(["name", "duration_ms", "compute_ms", "input_ms", "complete", "left_out", "begin_ms"]);
    expect(ids(table.withRows(table.rows.slice(1)))).not.toContain("complete");
  });
});

it.each([
  [0, 0, 0, "captured; no step was found"],
  [1, 0, 1, "the only step"],
  [0, 1, 1, "the only step, which is incomplete"],
  [1, 2, 1, "one step · 2 of 3 left out"],
  [0, 2, 2, "average of 2 steps, median 2.00 ms, σ 1.00 ms, 1.00 ms to 3.00 ms"],
  [3, 2, 3, "average of 3 steps, median 2.00 ms, σ 1.00 ms, 1.00 ms to 3.00 ms · 2 of 5 left out"],
])("says of %i complete and %i incomplete steps, of which %i count: %s", (complete, incomplete, kept, words) => {
  const figures = { step_median_ms: 2, step_deviation_ms: 1, step_minimum_ms: 1, step_maximum_ms: 3 };
  const found = answer({ ...figures, steps_complete: complete, steps_incomplete: incomplete, steps_kept: kept });
  expect(averageText(found).replaceAll("\u202f", " ")).toBe(words);
});

it("gives only advice that fits, the most useful first", () => {
  const work = answer({}, { work: { work: ["a", "b", "c"], time_ms: [2, 0, 5] } }).table("work");
  expect(workByTime(work).map((row) => work.text(row, "work"))).toEqual(["c", "a"]);
});

it("gives the pod's steps their workers", () => {
  const tables = {
    steps: { number: [3, 4], name: ["3", "train 4"], complete: [true, false], median_ms: [5, 6], slow: [0, 1] },
    workers: { step: [3, 4, 3], host: ["a", "a", "b"], total_ms: [5, 6, 5] },
  };
  const [first, second] = podSteps(answer({}, tables));
  expect(first).toMatchObject({ number: "3", name: "Step 3", complete: true, medianMs: 5, slowCount: 0 });
  expect(second).toMatchObject({ number: "4", name: "train 4", complete: false, medianMs: 6, slowCount: 1 });
  expect(first?.workers.rows.map((row) => first.workers.text(row, "host"))).toEqual(["a", "b"]);
  expect(podSteps(answer({}))).toEqual([]);
});
