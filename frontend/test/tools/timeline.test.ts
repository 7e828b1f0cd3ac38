import { describe, expect, it } from "vitest";
import type { LaneEntry, Lanes, SectionEntry } from "../../src/api/timeline";
import {
  arrangeBands,
  type LaneChoices,
  ROW_PX,
  SECTION_PX,
  summaryLanes,
  visibleRange,
} from "../../src/tools/timeline/layout";
import { type LaneSlices, sliceAt } from "../../src/tools/timeline/sliceloader";

const lane = (key: string, name: string, rows: number, kind = "thread"): LaneEntry => ({
  key,
  id: `p0.l${key}`,
  name,
  detail: "",
  kind,
  rows,
  events: 10,
  unit: "",
});

const LANES: Lanes = {
  duration: 100,
  block: 128,
  clocks: null,
  sections: [
    {
      host: "vm",
      name: "/device:GPU:0",
      kind: "device",
      folded: false,
      lanes: [lane("0.0", "Steps", 1, "steps"), lane("0.1", "Ops", 3)],
    },
    {
      host: "vm",
      name: "/host:CPU",
      kind: "host",
      folded: false,
      lanes: [lane("0.2", "python", 5), lane("0.3", "HBM", 1, "counter")],
    },
  ],
};

const NOTHING: LaneChoices = { folds: new Set(), pins: [], hidden: new Set(), filter: "" };

describe("the layout", () => {
  it("leaves out lanes and sections that are hidden", () => {
    const shown = (hidden: string) => arrangeBands(LANES, { ...NOTHING, hidden: new Set([hidden]) }).bands;
    expect(shown("vm:p0.l0.1").map(({ title }) => title)).not.toContain("Ops");
    expect(shown("vm:/device:GPU:0").map(({ title }) => title)).toEqual(["/host:CPU", "python", "HBM"]);
  });

  it("stacks sections and lanes by their rows", () => {
    const { bands, height } = arrangeBands(LANES, NOTHING);
    expect(bands.map(({ title }) => title)).toEqual(["/device:GPU:0", "Steps", "Ops", "/host:CPU", "python", "HBM"]);
    for (const [at, band] of bands.entries()) {
      const before = bands[at - 1];
      expect(band.top).toBe(before ? before.top + before.height : 0);
    }
    expect(height).toBe(2 * SECTION_PX + 9 * ROW_PX + 3 * 3 + 39);
  });

  it("folds lanes to a row and sections to a summary", () => {
    const folded = arrangeBands(LANES, { ...NOTHING, folds: new Set(["vm:/device:GPU:0", "vm:p0.l0.2"]) });
    expect(folded.bands.map(({ title, rows }) => [title, rows])).toEqual([
      ["/device:GPU:0", 1],
      ["/host:CPU", 1],
      ["python", 1],
      ["HBM", 1],
    ]);
    expect(summaryLanes(folded.bands[0] as never).map(({ key }) => key)).toEqual(["0.0", "0.1"]);
    expect(folded.bandByLaneKey.get("0.1")?.id).toBe("vm:/device:GPU:0");
  });

  it("pins lanes and filters by words", () => {
    const { pinned, bands } = arrangeBands(LANES, { ...NOTHING, pins: ["vm:p0.l0.3", "gone"], filter: "host pyth" });
    expect(pinned.map(({ title }) => title)).toEqual(["HBM (/host:CPU)"]);
    expect(bands.map(({ title }) => title)).toEqual(["/host:CPU", "python"]);
  });

  it("filters by one of several words, and by whole names of hosts", () => {
    const titles = (filter: string) => arrangeBands(LANES, { ...NOTHING, filter }).bands.map(({ title }) => title);
    expect(titles("ops|pyth")).toEqual(["/device:GPU:0", "Ops", "/host:CPU", "python"]);
    expect(titles("=vm|=vm2 hbm")).toEqual(["/host:CPU", "HBM"]);
    expect(titles("=v|=vm2")).toEqual([]);
  });

  it("tells devices and lanes apart whose names begin alike", () => {
    const [gpu, host] = LANES.sections as [SectionEntry, SectionEntry];
    const sections = [
      { ...gpu, name: "/device:GPU:1", lanes: [lane("0.0", "Stream #1", 1), lane("0.1", "Stream #13", 1)] },
      { ...gpu, name: "/device:GPU:10", lanes: [lane("0.2", "Stream #1", 1)] },
      { ...host, name: "GPU:1, why idle", lanes: [{ ...lane("0.3", "Busy", 1), detail: "GPU:1" }] },
    ];
    const shown = (filter: string) =>
      arrangeBands({ ...LANES, sections }, { ...NOTHING, filter }).bands.flatMap((band) => band.lane?.key ?? []);
    expect(shown("gpu:1")).toHaveLength(4);
    expect(shown("=vm =GPU:1")).toEqual(["0.0", "0.1", "0.3"]);
    expect(shown("=/device:GPU:10")).toEqual(["0.2"]);
    expect(shown('="Stream #1" =gpu:1')).toEqual(["0.0"]);
    expect(shown('="Stream #1"|=Busy')).toEqual(["0.0", "0.2", "0.3"]);
  });

  it("finds what is in view", () => {
    const { bands } = arrangeBands(LANES, NOTHING);
    expect(visibleRange(bands, 0, 10)).toEqual([0, 1]);
    expect(visibleRange(bands, SECTION_PX, SECTION_PX + 1)).toEqual([1, 2]);
    expect(visibleRange(bands, 1e6, 1e6 + 10)).toEqual([6, 6]);
  });
});

describe("pointing", () => {
  const laneSlices = {
    count: 3,
    originPs: 100,
    psPerUnit: 10,
    begin: Uint32Array.of(0, 10, 4),
    width: Uint32Array.of(5, 5, 2),
    row: Uint16Array.of(0, 0, 1),
    rowStart: Uint32Array.of(0, 2, 3),
  } as unknown as LaneSlices;

  it("finds the slice at a time on a row, or the nearest in reach", () => {
    expect(sliceAt(laneSlices, 0, 120, 0)).toBe(0);
    expect(sliceAt(laneSlices, 0, 160, 0)).toBe(-1);
    expect(sliceAt(laneSlices, 0, 160, 15)).toBe(0);
    expect(sliceAt(laneSlices, 0, 195, 15)).toBe(1);
    expect(sliceAt(laneSlices, 1, 145, 0)).toBe(2);
    expect(sliceAt(laneSlices, 2, 145, 100)).toBe(-1);
  });
});
