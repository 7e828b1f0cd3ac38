import { describe, expect, it } from "vitest";
import { Table } from "../../src/base/datatable";
import { median, summarize } from "../../src/base/statistics";
import { groupByType } from "../../src/tools/framework_op_stats";
import { fittingAdvice } from "../../src/tools/input/hostside";
import { headline as slowestHost } from "../../src/tools/overview/hosts";
import { isSlow, largestExcess, partsIn, piecesOf, stepsOf, tableOf } from "../../src/tools/pod/model";
import { largestShares } from "../../src/view/pie";
import { measuredParts, stepTime } from "../../src/view/stepchart";

function record(hostName: string, us: Record<string, number>, more: object = {}) {
  const totalDurationUs = Object.values(us).reduce((sum, value) => sum + value, 0);
  return {
    hostName,
    chipId: 1,
    nodeId: 2,
    stepNum: 3,
    totalDurationUs,
    bottleneck: "Input",
    stepBreakdownUs: us,
    ...more,
  };
}

function answer(deviceType = "GPU") {
  const even = { "1": 5000, "6": 100 };
  const cores = {
    "1": record("worker-10", even),
    "1001": record("worker-2", even, { complete: false }),
    "2001": record("worker-1", { "1": 5000, "6": 4100 }),
  };
  return { podStatsSequence: { podStatsMap: [{ stepNum: 3, podStatsPerCore: cores }] }, deviceType };
}

describe("the pod", () => {
  const [step] = stepsOf(answer());
  if (!step) throw new Error("no step");

  it("lists workers by name, numbers as numbers, in ms", () => {
    expect(step.workers.map(({ name }) => name)).toEqual(["worker-1", "worker-2", "worker-10"]);
    expect(step.workers[0]).toMatchObject({ total: 9.1, parts: { device_compute: 5, input: 4.1 } });
    expect(step).toMatchObject({ number: 3, name: "Step 3", complete: false });
  });

  it("names TPU cores by chip and node", () => {
    expect(stepsOf(answer("TPU v5"))[0]?.workers[0]?.name).toBe("(1,2)");
  });

  it("marks the slow worker and says what it does longer", () => {
    expect(step.workers.filter((worker) => isSlow(worker, step)).map(({ name }) => name)).toEqual(["worker-1"]);
    expect(step.workers[0] && largestExcess(step.workers[0], step)).toEqual({
      id: "input",
      more: expect.closeTo(4),
    });
  });

  it("calls nobody slow among two", () => {
    const two = { ...step, workers: step.workers.slice(0, 2) };
    expect(two.workers.some((worker) => isSlow(worker, two))).toBe(false);
  });

  it("keeps the order of parts of all pages", () => {
    expect(partsIn(step)).toEqual(["input", "device_compute"]);
    expect(step.workers[0] && piecesOf(step.workers[0]).map(({ part }) => part.id)).toEqual([
      "input",
      "device_compute",
    ]);
    expect(tableOf(step.workers, partsIn(step)).columns.map(({ label }) => label)).toEqual([
      "Worker",
      "Step time",
      "Most time in",
      "Input",
      "Device compute",
    ]);
  });

  it("stands an empty answer", () => {
    expect(stepsOf({})).toEqual([]);
    expect(median([])).toBe(0);
  });
});

it.each([
  [0, [0, 0], "no step is complete on all hosts, so they cannot be compared"],
  [8, [0, 0], "equally fast in all 8 shared steps"],
  [8, [5, 2], "w0 was the slowest in 5 of 8 steps"],
  [8, [4, 4], "w0 and w1 were each the slowest in 4 of 8 steps"],
  [9, [3, 3, 3], "3 hosts were the slowest equally often"],
])("says of %i shared steps and slowest %j: %s", (shared, slowest, text) => {
  const hosts = new Table({
    cols: ["host", "slowest"].map((id, place) => ({ id, label: id, type: place ? "number" : "string" })),
    rows: slowest.map((many, place) => ({ c: [{ v: `w${place}` }, { v: many }] })),
    p: { shared_steps: String(shared) },
  });
  expect(slowestHost(hosts)).toBe(text);
});

it("groups ops by type and place, and their shares add up", () => {
  const ids = [
    "host_or_device",
    "type",
    "operation",
    "occurrences",
    "total_time",
    "total_self_time",
    "host_total_self_time_percent",
  ];
  const ops = new Table({
    cols: ids.map((id, place) => ({ id, label: id, type: place < 3 ? "string" : "number" })),
    rows: [
      ["Host", "Cast", "a", 1, 5, 4, 0.5],
      ["Host", "Cast", "b", 2, 3, 2, 0.25],
      ["Device", "Cast", "c", 1, 1, 1, 0],
    ].map((cells) => ({ c: cells.map((v) => ({ v })) })),
  });
  const grouped = groupByType(ops);
  const [host] = grouped.rows;
  expect(grouped.rows.length).toBe(2);
  expect(
    host &&
      ["ops", "occurrences", "total_self_time", "host_total_self_time_percent"].map((id) => grouped.number(host, id)),
  ).toEqual([2, 3, 6, 0.75]);
});

it("gives only advice that fits, the most useful first", () => {
  const advice = new Table({
    cols: [{ id: "link", label: "link", type: "string" }],
    rows: ["Enqueuing data: x", "Data preprocessing: y", "Reading data from files in advance: z", "Anything else"].map(
      (v) => ({ c: [{ v }] }),
    ),
  });
  const times: Record<string, number> = { preprocessing_us: 2, advanced_file_read_us: 5 };
  expect(fittingAdvice(advice, (name) => times[name] ?? 0).map(({ text }) => text)).toEqual([
    "Reading data from files in advance: z",
    "Data preprocessing: y",
    "Anything else",
  ]);
});

it("summarizes with the sample standard deviation", () => {
  expect(summarize([1, 2, 3])).toEqual({ average: 2, sdv: 1, low: 1, high: 3 });
  expect(summarize([4])).toEqual({ average: 4, sdv: 0, low: 4, high: 4 });
  expect(summarize([])).toEqual({ average: 0, sdv: 0, low: 0, high: 0 });
});

it("keeps the large shares and sums the rest", () => {
  const shares = Array.from({ length: 12 }, (_, place) => ({ name: `n${place}`, value: place }));
  const kept = largestShares(shares);
  expect(kept.length).toBe(9);
  expect(kept.at(-1)).toEqual({ name: "3 others", value: 6 });
  expect(kept.reduce((sum, { value }) => sum + value, 0)).toBe(66);
});

it("stacks only the parts that occur, and takes their sum where the step time is missing", () => {
  const steps = new Table({
    cols: ["stepnum", "infeedTimeMs", "outfeedTimeMs", "otherTimeMs"].map((id, place) => ({
      id,
      label: id,
      type: place ? "number" : "string",
    })),
    rows: [{ c: [{ v: "1" }, { v: 2 }, { v: 0 }, { v: 3 }] }],
  });
  const parts = measuredParts(steps);
  expect(parts.map(({ part }) => part.id)).toEqual(["input", "other"]);
  expect(stepTime(steps, steps.rows[0] ?? [], parts)).toBe(5);
});
