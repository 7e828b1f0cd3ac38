import { render } from "preact";
import { act } from "preact/test-utils";
import { expect, it } from "vitest";
import { Breakdown } from "../../src/tools/overview/breakdown";
import { answer } from "../table";
import { root, withRoot } from "../view/root";

withRoot();

/** The page's table where so much of the waiting lies between steps. */
async function rows(between: number): Promise<string[]> {
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
  const found = answer(facts, { parts, steps: { name: ["1"] } });
  await act(() => render(<Breakdown answer={found} severalHosts={false} />, root));
  const cells = (row: HTMLTableRowElement) => [...row.cells].map((cell) => cell.textContent?.trim()).join("|");
  return [...root.querySelectorAll("tr")].map(cells);
}

it("tells what lies in the step from what lies after it, where something does", async () => {
  const [head, compute, input, sum, ...more] = await rows(30);
  expect(head).toBe("State|Average ms|step_ms ms|between_ms ms|share");
  expect(compute).toBe("Compute|60.0|60.0|0.0|60.0\u202f%");
  expect(input).toBe("Waiting for input|40.0|10.0|30.0|40.0\u202f%");
  expect(sum).toMatch(/^From step to step\|100\.0\|/);
  expect(more).toEqual([]);
  expect(root.querySelector(".headline")?.textContent).toContain("from step to step");
  expect(root.querySelectorAll(".stackbar .piece").length).toBe(2);
});

it("speaks of the step alone where none does", async () => {
  const [head, compute, , sum] = await rows(0);
  expect(head).toBe("State|Average ms|share");
  expect(compute).toBe("Compute|60.0|60.0\u202f%");
  expect(sum).toMatch(/^Step\|100\.0\|/);
});
