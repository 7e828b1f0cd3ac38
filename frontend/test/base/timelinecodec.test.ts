import { describe, expect, it } from "vitest";
import { partById } from "../../src/base/parts";
import { readSlab } from "../../src/base/slab";
import { kindOf, libraryOf, sliceColour, textColour } from "../../src/base/slicecolour";
import { DEFAULT_VIEW, readTimelineView, type TimelineView, writeTimelineView } from "../../src/base/timelinecodec";
import { parseView, standaloneHash } from "../../src/base/urlcodec";

function slab(): ArrayBuffer {
  const entries = [
    { name: "a", dtype: "uint16", length: 3, offset: 200 },
    { name: "b", dtype: "float64", length: 1, offset: 208 },
    { name: "c", dtype: "float64", length: 4, bytes: 12, offset: 216 },
  ];
  const head = JSON.stringify({ unit: 7, arrays: entries }).padEnd(196);
  const buffer = new ArrayBuffer(228);
  new DataView(buffer).setUint32(0, head.length, true);
  new Uint8Array(buffer, 4).set(new TextEncoder().encode(head));
  new Uint16Array(buffer, 200, 3).set([1, 2, 3]);
  new Float64Array(buffer, 208, 1).set([1.5]);
  new Uint8Array(buffer, 216, 12).set([2, 3, 255, 3, 128, 132, 128, 128, 128, 128, 128, 8]);
  return buffer;
}

it("reads a slab in place, and whole numbers from their differences", () => {
  const buffer = slab();
  const { facts, arrays } = readSlab(buffer);
  expect(facts).toEqual({ unit: 7 });
  expect([...(arrays.a ?? [])]).toEqual([1, 2, 3]);
  expect([...(arrays.b ?? [])]).toEqual([1.5]);
  expect([...(arrays.c ?? [])]).toEqual([1, -1, -257, 2 ** 51 - 1]);
  expect(arrays.a?.buffer).toBe(buffer);
});

describe("the place in the URL", () => {
  const place: TimelineView = {
    ...DEFAULT_VIEW,
    window: [1_234_567, 9_876_543_210],
    scrollPx: 120,
    event: "0.17",
    mode: "timing",
    pins: ["host:p0.l1", "a,b:p1"],
    folds: ["host:/device:GPU:0"],
    marks: [{ begin: 1000, end: 2_500_000, name: "warm, up: 1" }],
    find: "gemm & co",
    regex: true,
    longest: true,
    listed: true,
    hidden: ["vm:p0.l1", "vm:/host:CPU"],
    laneFilter: "gpu 1",
    leastPs: 5000,
    colouring: "library",
    arrowKinds: ["launch", "thread pool"],
    box: { begin: 1000, end: 2_500_000, lanes: ["0.3:0-2", "1.4"] },
    tab: "flame" as const,
    weight: "idle",
  };

  it("comes back as it was, through the address bar", () => {
    const view = parseView(
      standaloneHash({
        run: "r",
        tool: "trace_viewer",
        host: "",
        base: "",
        lang: "",
        options: writeTimelineView(place),
      }),
    );
    expect(readTimelineView(view.options)).toEqual(place);
  });

  it("does not keep a link's wish to move", () => {
    expect(readTimelineView({ event: "0.1", go: "1" }).go).toBe(true);
    expect(writeTimelineView({ ...DEFAULT_VIEW, go: true })).toEqual({});
  });

  it("takes no room where nothing was chosen, and forgives nonsense", () => {
    expect(writeTimelineView(DEFAULT_VIEW)).toEqual({});
    expect(readTimelineView({ t: "x~y", y: "-3", mode: "fly", marks: "1,2:3", least: "?" })).toEqual(DEFAULT_VIEW);
  });
});

describe("a link that was written by hand, or decoded twice", () => {
  it.each(["pin=%25", "fold=%", "arrows=%25E0%25A4", "marks=1~2:%", "find=%E0", "lanes=%"])("%s", (query) => {
    const place = readTimelineView(parseView(`#v=1&tool=trace_viewer&${query}`).options);
    expect(
      readTimelineView(
        parseView(
          standaloneHash({ run: "", tool: "", host: "", base: "", lang: "", options: writeTimelineView(place) }),
        ).options,
      ),
    ).toEqual(place);
  });

  it("keeps what can be read", () => {
    expect(readTimelineView({ pin: "%,a%20b", marks: "1~2:%" })).toMatchObject({
      pins: ["%", "a b"],
      marks: [{ begin: 1000, end: 2000, name: "%" }],
    });
  });

  it("is written for names that end in half a character", () => {
    const options = writeTimelineView({
      ...DEFAULT_VIEW,
      marks: [{ begin: 0, end: 1000, name: "a\ud83d" }],
      pins: ["\ude00"],
    });
    expect(readTimelineView(options)).toMatchObject({ marks: [{ name: "a\ufffd" }], pins: ["\ufffd"] });
  });
});

describe("colours of slices", () => {
  it("are those of the kind of work, whatever number it bears", () => {
    expect(kindOf("fusion.123")).toBe(kindOf("fusion.7"));
    // Of a longer name, no more than this is looked at.
    expect(kindOf(`op_${"1".repeat(600)}x`)).toBe("op");
    expect(kindOf("jit_f(12190760917235803885)")).toBe("jit_f");
    expect(kindOf("model/dense_1/MatMul:MatMul")).toBe("MatMul");
    expect(kindOf("$a.py:12 f")).toBe(kindOf("$a.py:99 g"));
    expect(kindOf("17")).toBe(kindOf("18"));
    expect(sliceColour("fusion.1", false)).toEqual(sliceColour("fusion.2", false));
    expect(sliceColour("fusion.1", false, "name")).not.toEqual(sliceColour("fusion.2", false, "name"));
    expect(sliceColour("aten::mm", false, "library")).toEqual(sliceColour("aten::addmm", false, "library"));
    expect(sliceColour("python", true, "library")).toEqual(sliceColour("python", true));
    expect(
      ["void at::native::f<int>(int)", "$torch/nn/a.py:3 f", "$a.py:12 f", "model/conv/Conv2D", "gemm_7"].map(
        libraryOf,
      ),
    ).toEqual(["at", "torch", "$a.py:", "model", "gemm"]);
  });

  it("are those of the category where the work has a meaning of its own, or is called as a state", () => {
    const shown = (name: string) =>
      `#${sliceColour(name, true)
        .map((value) => value.toString(16).padStart(2, "0"))
        .join("")}`;
    expect(shown("ncclAllReduceKernel")).toBe(partById("communication").dark);
    expect(shown("MemcpyD2D")).toBe(partById("copies").dark);
    expect(shown("Memcpy HtoD (Pageable -> Device)")).toBe(partById("copies").dark);
    expect(shown("Launch delay")).toBe(partById("launch").dark);
    expect(sliceColour("copy-done.3", true)).toEqual(sliceColour("copy-start", true));
    expect(sliceColour("copy-done", false)).not.toEqual(sliceColour("add", false));
    expect(sliceColour("copyright", true)).not.toEqual(sliceColour("copy", true));
  });

  it("bear the text that can be read on them", () => {
    expect(textColour(sliceColour("Exposed communication", false))).toBe("#ffffff");
    expect(textColour(sliceColour("Compute", true))).toBe("#000000");
  });
});
