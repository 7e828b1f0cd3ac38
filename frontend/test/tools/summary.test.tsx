import { render } from "preact";
import { act } from "preact/test-utils";
import { describe, expect, it } from "vitest";
import { actionsOf, spoken } from "../../src/tools/summary/actions";
import { StepBar } from "../../src/tools/summary/bar";
import { PartsTable } from "../../src/tools/summary/parts";
import { answer } from "../table";
import { root, withRoot } from "../view/root";

withRoot();

/** The step where so much of the waiting lies after it. */
function step(between: number) {
  const parts = {
    part: ["compute", "input", "python"],
    label: ["Compute", "Waiting for input", "Python"],
    average_ms: [60, 40, 0],
    step_ms: [60, 40 - between, 0],
    between_ms: [0, between, 0],
    share: [0.6, 0.4, 0],
    maximum_ms: [60, 40, 0],
  };
  const facts = { parts_ms: 100, step_average_ms: 100 - between, steps_complete: 3, steps_kept: 3 };
  return answer(facts, { parts, steps: { name: ["1"] } });
}

async function rows(between: number): Promise<string[]> {
  await act(() => render(<PartsTable answer={step(between)} />, root));
  const cells = (row: HTMLTableRowElement) => [...row.cells].map((cell) => cell.textContent?.trim()).join("|");
  return [...root.querySelectorAll("tr")].map(cells);
}

describe("the figures of the step", () => {
  it("tell what lies in the step from what lies after it, where something does", async () => {
    const [head, compute, input, sum, ...more] = await rows(30);
    expect(head).toBe("State|Average ms|step_ms ms|between_ms ms|share");
    expect(compute).toBe("Compute|60.0|60.0|0.0|60.0\u202f%");
    expect(input).toBe("Waiting for input|40.0|10.0|30.0|40.0\u202f%");
    expect(sum).toMatch(/^From step to step\|100\.0\|/);
    expect(more).toEqual([]);
  });

  it("speak of the step alone where none does", async () => {
    const [head, compute, , sum] = await rows(0);
    expect(head).toBe("State|Average ms|share");
    expect(compute).toBe("Compute|60.0|60.0\u202f%");
    expect(sum).toMatch(/^Step\|100\.0\|/);
  });
});

it("draws one bar of the step, with what takes no time left out", async () => {
  await act(() => render(<StepBar answer={step(30)} severalHosts={false} />, root));
  expect(root.querySelectorAll(".stackbar .piece").length).toBe(2);
  expect([...root.querySelectorAll(".key li")].map((entry) => entry.textContent)).toEqual([
    "Compute 60.0\u202fms · 60.0\u202f%",
    "Waiting for input 40.0\u202fms · 40.0\u202f%",
  ]);
  expect(root.querySelector(".extent")?.textContent).toContain("from step to step");
});

describe("what to do", () => {
  const causes = (more: Partial<Record<string, (string | number | boolean | null)[]>> = {}) => ({
    id: ["eager", "warmup", "python", "compute", "exposed_copy"],
    label: ["Op by op", "Warming up", "Python", "Compute", "Exposed copies"],
    share: [0.5, 0.3, 0.1, 0.3, 0.01],
    per_step_ps: [50e9, 30e9, 10e9, 30e9, 1e9],
    gain_ps: [40e9, 30e9, 8e9, null, 1e9],
    then_label: ["Compute", null, "Compute", null, null],
    text: ["Ops are slow.", "w", "p", "c", "e"],
    remedy: ["Compile it.", "Nothing.", "Take Python out of it: do less.", "Make ops cheaper.", "Copy less."],
    code: ["x = 1", null, null, null, null],
    saves: [true, true, true, true, true],
    ...more,
  });
  const hints = {
    id: ["eager", "precision"],
    title: ["t", "Use bf16"],
    evidence: ["e", "f"],
    gain_ms: [9, 20],
    tool: ["why", "k"],
  };
  const why = (table: ReturnType<typeof causes>) => answer({ period_ps: 100e9 }, { causes: table });

  it("begins with the headline's cause; the rest stands by what it saves, without the small and the vain", () => {
    const found = actionsOf(answer({}, { hints }), why(causes()), 9);
    expect(found.map(({ id, saves }) => [id, saves])).toEqual([
      ["eager", 40],
      ["precision", 20],
      ["python", 8],
    ]);
    expect(found[0]).toMatchObject({ title: "Compile it", code: "x = 1", evidence: "Ops are slow.", limit: "Compute" });
    expect(found[1]).toMatchObject({ title: "Use bf16", tool: "k" });
    expect(actionsOf(answer({}, { hints }), why(causes()), 2).length).toBe(2);
  });

  it("gives one advice once, though a cause and a rule have it", () => {
    const rule = { id: ["prefetch"], title: ["End it with prefetch(n)"], evidence: ["e"], gain_ms: [20], tool: ["k"] };
    const ids = (code: string) => {
      const why = answer({ period_ps: 100e9 }, { causes: causes({ code: [code, null, null, null, null] }) });
      return actionsOf(answer({}, { hints: rule }), why, 9).map(({ id }) => id);
    };
    expect(ids("dataset.prefetch(2)")).not.toContain("prefetch");
    expect(ids("dataset.map(f)")).toContain("prefetch");
  });

  it("gives one advice once, though several causes have it", () => {
    const remedy = ["Run several steps per call.", null, "Run several steps per call.", null, null];
    const table = causes({ remedy });
    const titles = actionsOf(answer({}, { hints }), why(table), 9).map(({ title }) => title);
    expect(titles.filter((title) => title === "Run several steps per call")).toHaveLength(1);
  });

  it("promises no saving of what only records more", () => {
    const why = answer({ period_ps: 100e9 }, { causes: causes({ saves: [false, true, true, true, true] }) });
    const [first] = actionsOf(answer({}, { hints: { ...hints, id: ["x", "y"], gain_ms: [null, null] } }), why, 1);
    expect(first).toMatchObject({ id: "eager", saves: null, takes: 50 });
  });

  it("leaves out what saves nothing, and names compute only where it is the most", () => {
    const none = causes({ gain_ps: [0, 0, 8e9, null, 1e9] });
    expect(actionsOf(answer({}), why(none), 9).map(({ id }) => id)).toEqual(["python"]);
    const busy = causes({ id: ["compute", "warmup", "python", "x", "y"], gain_ps: [null, 0, 8e9, null, null] });
    expect(actionsOf(answer({}), why(busy), 1)).toMatchObject([{ id: "compute", saves: null, takes: 50 }]);
  });

  it.each([
    ["Capture with Python's tracer: tb-profile capture A", "Capture with Python's tracer", "tb-profile capture A"],
    ["Compile once: pad arrays.", "Compile once", "Pad arrays."],
    ["Reshard: gather less.", "Reshard: gather less", ""],
    ["Prefetch and cache; the page says more.", "Prefetch and cache", "The page says more."],
    ["Use torch.compile. It takes a minute.", "Use torch.compile", "It takes a minute."],
    ["Copy less.", "Copy less", ""],
    [
      "Copy from pinned memory (DataLoader: pin_memory=True).",
      "Copy from pinned memory (DataLoader: pin_memory=True)",
      "",
    ],
    [
      "记录 Python：torch.profiler.profile(with_stack=True)。",
      "记录 Python",
      "torch.profiler.profile(with_stack=True)。",
    ],
    ["減らします。次に測ります。", "減らします", "次に測ります。"],
  ])("says %s", (remedy, title, more) => {
    expect(spoken(remedy)).toEqual([title, more]);
  });
});
