import { describe, expect, it } from "vitest";
import { partById } from "../../src/base/parts";
import { usageOption } from "../../src/tools/memory/usagechart";
import { stackedOption } from "../../src/view/stackedchart";
import { column, table } from "../table";

const NAME = `<img src=x onerror="hit()"><a href='https://evil.example'>&lt;b&gt;</a>`;
const PALETTE = { dark: false, text: "#000", quiet: "#888", line: "#ccc", panel: "#fff", accent: "#06c" };

/** What a chart's tooltip becomes on the page, where ECharts takes it as html. */
function shown(option: { tooltip: { formatter: (item: unknown) => string } }, item: unknown): HTMLElement {
  const { body } = new DOMParser().parseFromString(option.tooltip.formatter(item), "text/html");
  return body;
}

function expectText(body: HTMLElement): void {
  expect(body.textContent).toContain(NAME);
  expect(body.querySelectorAll("*:not(div, i, b, br)").length).toBe(0);
}

describe("names from a capture in the tooltips of charts", () => {
  it("are text above stacked columns, and in their parts", () => {
    const layers = [{ label: NAME, part: partById("input"), valuesMs: [1] }];
    const columns = [{ name: NAME, head: NAME, totalMs: 1 }];
    const scale = { unit: "ms", factor: 1, decimals: 1 };
    const option = stackedOption({ layers, columns, scale, axisName: "", line: null, sliderFrom: 9 }, PALETTE);
    expectText(shown(option, [{ dataIndex: 0 }]));
  });

  it("are text in memory over time", () => {
    const ids = ["time_ms", "activity", "op_name", "region_type", "shape"];
    const points = table(
      ids.map((id) => column(id, "string")),
      [[1, NAME, "op", "<b>r</b>", "<i>"]],
    );
    const usage = { points, captureMs: [0, 1], shownMs: [0, 1], momentMs: 0 } as const;
    const body = shown(usageOption(usage, points.rows, PALETTE), [{ dataIndex: 0 }]);
    expectText(body);
    expect(body.textContent).toContain("<b>r</b>");
  });
});
