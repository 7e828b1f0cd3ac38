import { render } from "preact";
import { act } from "preact/test-utils";
import { describe, expect, it } from "vitest";
import type { Answer } from "../../src/base/table";
import { actionsOf, splitRemedy } from "../../src/tools/summary/actions";
import { PartsTable } from "../../src/tools/summary/partstable";
import { StepBar } from "../../src/tools/summary/stepbar";
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
  // As of several hosts: a step is as long as on the slowest one, and its parts are means.
  const facts = {
    parts_ms: 100,
    parts_in_step_ms: 100 - between,
    step_average_ms: 103,
    steps_complete: 3,
    steps_kept: 3,
  };
  return answer(facts, { parts, steps: { name: ["1"] } });
}

async function rows(of: Answer): Promise<string[]> {
  await act(() => render(<PartsTable answer={of} />, root));
  const cells = (row: HTMLTableRowElement) => [...row.cells].map((cell) => cell.textContent?.trim()).join("|");
  return [...root.querySelectorAll("tr")].map(cells);
}

describe("the figures of the step", () => {
  it("tell what lies in the step from what lies after it, where something does", async () => {
    const [head, compute, input, sum, ...more] = await rows(step(30));
    expect(head).toBe("State|Average ms|step_ms ms|between_ms ms|share");
    expect(compute).toBe("Compute|60.0|60.0|0.0|60.0\u202f%");
    expect(input).toBe("Waiting for input|40.0|10.0|30.0|40.0\u202f%");
    expect(sum).toMatch(/^From step to step\|100\.0\|/);
    expect(more).toEqual([]);
  });

  it("speak of the step alone where none does", async () => {
    const [head, compute, , sum] = await rows(step(0));
    expect(head).toBe("State|Average ms|share");
    expect(compute).toBe("Compute|60.0|60.0\u202f%");
    expect(sum).toMatch(/^Step\|100\.0\|/);
  });

  it("leave out what is unknown", async () => {
    const parts = {
      part: ["compute"],
      label: ["Compute"],
      average_ms: [60],
      share: [null],
      deviation_ms: [1],
      minimum_ms: [null],
      maximum_ms: [62],
    };
    const [, compute] = await rows(answer({ parts_ms: 60 }, { parts }));
    expect(compute).toBe("Compute|60.00||1.00|");
    await act(() => render(<StepBar answer={answer({ parts_ms: 60 }, { parts })} severalHosts={false} />, root));
    expect(root.querySelector(".key li")?.textContent).toBe("Compute 60.0\u202fms");
  });
});

it("draws one bar of the step, with what takes no time left out", async () => {
  await act(() => render(<StepBar answer={step(30)} severalHosts={false} />, root));
  expect(root.querySelectorAll(".stackbar .piece").length).toBe(2);
  expect([...root.querySelectorAll(".key li")].map((entry) => entry.textContent)).toEqual([
    "Compute 60.0\u202fms · 60.0\u202f%",
    "Waiting for input 40.0\u202fms · 40.0\u202f%",
  ]);
  expect(root.querySelector(".extent")?.textContent).toContain("from step to step, 70.0\u202fms of it in the step");
  await act(() => render(<StepBar answer={step(0.01)} severalHosts={false} />, root));
  expect(root.querySelector(".extent")?.textContent).not.toContain("from step to step");
});

describe("what to do", () => {
  const findings = {
    id: ["eager", "precision", "python"],
    title: ["Compile it: use a graph.", "Use bf16.", "Do less."],
    evidence: ["Ops are slow.", "f", "p"],
    gain_ms: [40, 20, null],
    takes_ms: [50, null, 10],
    of_ms: [150, 100, 100],
    tool: ["why", "kernel_stats", "why"],
    code: ["x = 1", null, null],
  };
  const why = answer({ period_ps: 100e9 }, { causes: { id: ["eager"], then_label: ["Compute"] }, findings });

  it("is what the diagnosis finds, in its order, at most so much", () => {
    expect(actionsOf(why, 9).map(({ id, savesMs, takesMs, wholeMs }) => [id, savesMs, takesMs, wholeMs])).toEqual([
      ["eager", 40, 50, 150],
      ["precision", 20, null, 100],
      ["python", null, 10, 100],
    ]);
    expect(actionsOf(why, 2).length).toBe(2);
  });

  it("says what limits the step next, and names another page only", () => {
    const [eager, precision] = actionsOf(why, 2);
    expect(eager).toMatchObject({
      title: "Compile it",
      explanation: "Use a graph.",
      code: "x = 1",
      nextBottleneck: "Compute",
      tool: "",
    });
    expect(precision).toMatchObject({ title: "Use bf16", nextBottleneck: "", tool: "kernel_stats" });
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
    expect(splitRemedy(remedy)).toEqual([title, more]);
  });
});
