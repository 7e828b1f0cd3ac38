import { expect, it } from "vitest";
import { partById } from "../../src/base/parts";
import { axisEndMs, type StackedColumn, stackedOption } from "../../src/view/stackedchart";

const PALETTE = { dark: false, text: "#000", quiet: "#888", line: "#ccc", panel: "#fff", accent: "#06c" };

function optionOf(columns: readonly StackedColumn[]) {
  const layers = [{ label: "compute", part: partById("compute"), valuesMs: columns.map(({ totalMs }) => totalMs) }];
  const scale = { unit: "ms", factor: 1, decimals: 1 };
  return stackedOption({ layers, columns, scale, axisName: "", line: null, sliderFrom: 99 }, PALETTE);
}

const step = (totalMs: number, faded = false): StackedColumn => ({ name: "", head: "", totalMs, faded });

it("does not let a step that is left out flatten the others", () => {
  const columns = [step(40, true), step(1), step(1.6)];
  expect(axisEndMs(columns)).toBe(2);
  const option = optionOf(columns);
  expect(option.yAxis).toMatchObject({ max: 2 });
  const arrows = option.series.at(-1);
  expect(arrows).toMatchObject({ type: "scatter", data: [2, null, null] });
});

it("shows all of steps that are a little longer, and of those that count", () => {
  for (const columns of [[step(3, true), step(1)], [step(40), step(1)], [step(7, true)]]) {
    expect(axisEndMs(columns)).toBe(Math.max(...columns.map(({ totalMs }) => totalMs)));
    expect(optionOf(columns).yAxis).not.toHaveProperty("max");
    expect(optionOf(columns).series).toHaveLength(1);
  }
});
