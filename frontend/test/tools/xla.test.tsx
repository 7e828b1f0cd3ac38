import { render } from "preact";
import { act } from "preact/test-utils";
import { describe, expect, it } from "vitest";
import type { Store } from "../../src/state/store";
import { ProfileTree } from "../../src/tools/xla/profiletree";
import { opsOnChart, rooflineOption } from "../../src/tools/xla/roofline";
import { column, table } from "../table";
import { root, withRoot } from "../view/root";

withRoot();

const NODES = table(
  [
    ...["id", "parent", "depth", "self_us", "share", "of_busy", "wasted_us"].map((id) => column(id)),
    ...["name", "kind", "op"].map((id) => column(id, "string")),
  ],
  [
    [0, null, 0, 90, 0.45, 0.9, 30, "jit_f(1)", "group", null],
    [1, 0, 1, 90, 0.45, 0.9, 30, "dot", "group", null],
    [2, 1, 2, 90, 0.45, 0.9, 30, "dot.1", "op", "dot.1"],
    [3, null, 0, 10, 0.05, 0.1, null, "Other work", "other", null],
    [4, null, 0, 100, 0.5, null, null, "Idle", "idle", null],
  ],
);
const STORE = { tools: { state: { value: { value: [] } } } } as unknown as Store;

async function show(idle: boolean): Promise<string[]> {
  await act(() => render(<ProfileTree nodes={NODES} idle={idle} store={STORE} />, root));
  return names();
}

function names(): string[] {
  return [...root.querySelectorAll("tbody tr td:first-child")].map(
    (cell) => cell.textContent?.replace(/^[▾▸]/, "") ?? "",
  );
}

describe("the op profile's tree", () => {
  it("opens what is large, leaves idle time out, and closes at a click", async () => {
    expect(await show(false)).toEqual(["jit_f(1)", "dot", "dot.1", "Other work"]);
    await act(() => root.querySelector<HTMLButtonElement>("button.twig")?.click());
    expect(names()).toEqual(["jit_f(1)", "Other work"]);
  });

  it("shows idle time where it is asked for, and shares with it", async () => {
    expect(await show(true)).toContain("Idle");
    expect(root.querySelector("td.share")?.textContent).toContain("45.0");
  });
});

describe("the roofline", () => {
  const ops = table(
    [
      ...["name", "program", "category", "bound_by"].map((id) => column(id, "string")),
      ...["flop_per_byte", "gflop_per_s", "self_us"].map((id) => column(id)),
    ],
    [
      ["dot.1", "f", "dot", "Compute", 200, 900, 4],
      ["copy.2", "f", "copy", "HBM", 0, 0, 4],
      ["call.3", "f", "custom-call", "Unknown", null, null, 9],
    ],
  );
  const ceilings = table(
    [
      column("name", "string"),
      column("kind", "string"),
      ...["gflop_per_s", "gib_per_s", "ridge"].map((id) => column(id)),
    ],
    [
      ["bf16", "compute", 1000, null, null],
      ["HBM", "memory", null, 10, 93],
    ],
  );
  const palette = { text: "", quiet: "", line: "", panel: "", accent: "", dark: false };

  it("places what has FLOPs and bytes, and no other", () => {
    expect(opsOnChart(ops).rows.map((row) => row[0])).toEqual(["dot.1"]);
  });

  it("ends slopes at the highest level", () => {
    const series = rooflineOption(opsOnChart(ops), ceilings, palette).series as { name: string; data: number[][] }[];
    const slope = series.find(({ name }) => name === "HBM")?.data.at(-1);
    expect(slope?.[1]).toBeCloseTo(1000);
    expect(slope?.[0]).toBeCloseTo(93.13, 1);
  });

  it("names levels below their lines, where no slope ends", () => {
    const { series } = rooflineOption(opsOnChart(ops), ceilings, palette);
    const lines = series as { name: string; endLabel?: { offset: number[] } }[];
    const below = (name: string) => lines.find((line) => line.name === name)?.endLabel?.offset[1] ?? 0;
    expect(below("bf16")).toBeGreaterThan(0);
    expect(below("HBM")).toBeLessThan(0);
  });

  it("can be drawn without any op or ceiling", () => {
    expect(rooflineOption(ops.withRows([]), ceilings.withRows([]), palette).series).toEqual([]);
  });
});
