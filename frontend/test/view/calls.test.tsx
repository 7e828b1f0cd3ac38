import { render } from "preact";
import { act } from "preact/test-utils";
import { expect, it } from "vitest";
import { CallView } from "../../src/view/calls";
import { root, withRoot } from "./root";

withRoot();

const GONE = [...Array(12).keys()].map((place) => 12e9 - place * 1e9);
const CALLS = {
  parent: [-1, ...GONE.map(() => 0)],
  name: [0, ...GONE.keys()].map((_, place) => place),
  names: ["step", ...GONE.map((_, place) => `gone ${place}`)],
  own: [5e9, ...GONE.map(() => 0)],
  total: [5e9, ...GONE.map(() => 0)],
  base_total: [5e9 + 78e9, ...GONE],
  delta: [-78e9, ...GONE.map((ps) => -ps)],
  calls: [1, ...GONE.map(() => 0)],
  unit: "ps",
  total_weight: 5e9,
  base_only: { nodes: GONE.slice(2).map((_, place) => place + 1), others: 2, others_total: 3e9, total: 78e9 },
  weight: "self",
  weights: [{ id: "self", label: "Self time" }],
} as const;

it("lists what is gone beside the flame graph, with exact sums", async () => {
  await act(() => render(<CallView calls={CALLS} inverted={false} label="Ops" dark={false} />, root));
  expect(root.querySelectorAll(".flame button")).toHaveLength(1);
  const rows = [...root.querySelectorAll(".base-calls tbody tr")].map((row) => row.textContent?.replace(/\s/g, " "));
  expect(rows).toHaveLength(12);
  expect([rows[0], ...rows.slice(-2)]).toEqual(["gone 012.0 ms", "+2 more3.00 ms", "Sum78.0 ms"]);
});
