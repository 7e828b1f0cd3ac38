import { render } from "preact";
import { act } from "preact/test-utils";
import { describe, expect, it } from "vitest";
import type { Row } from "../../src/base/table";
import { ModuleTree, moduleTree } from "../../src/tools/torch/moduletree";
import { column, table } from "../table";
import { root, withRoot } from "../view/root";

withRoot();

const TIMES = ["total", "self"].flatMap((kind) => [`device_${kind}_us`, `host_${kind}_us`]);
const COLUMNS = [
  column("module", "string"),
  ...["depth", "count", ...TIMES, "backward_device_us", "backward_host_us", "share"].map((id) => column(id)),
];

/** A module whose forward and backward take so many µs on the device. */
function module(path: string, forward: number, backward: number): Row {
  return [path, path.split("/").length - 1, 2, forward, 9 * forward, 1, 2, backward, 3, (forward + backward) / 100];
}

const MODULES = table(COLUMNS, [
  module("Net_0", 60, 40),
  module("Net_0/Block_0", 40, 40),
  module("Net_0/Block_0/Linear_0", 15, 5),
  module("Net_0/Head_0/Linear_9", 20, 0),
]);

const names = () => [...root.querySelectorAll("tbody .row-act")].map((button) => button.textContent);
const shares = () => [...root.querySelectorAll("td.share")].map((cell) => cell.textContent?.replace(/\s/g, ""));

describe("the tree of modules", () => {
  it("opens what is large; a module lies in the nearest one that is listed", async () => {
    await act(() => render(<ModuleTree modules={MODULES} choose={() => undefined} />, root));
    expect(names()).toEqual(["Net_0", "Block_0", "Linear_0", "Linear_9"]);
    expect(
      moduleTree(MODULES)
        .children.get("Net_0")
        ?.map((row) => row[0]),
    ).toEqual(["Net_0/Block_0", "Net_0/Head_0/Linear_9"]);
    await act(() => root.querySelectorAll<HTMLButtonElement>("button.twig")[1]?.click());
    expect(names()).toEqual(["Net_0", "Block_0", "Linear_9"]);
  });

  it("draws shares of both passes, backward as its own part", async () => {
    await act(() => render(<ModuleTree modules={MODULES} choose={() => undefined} />, root));
    expect(shares()).toEqual(["100.0%", "80.0%", "20.0%", "20.0%"]);
    const bars = [...root.querySelectorAll<HTMLElement>(".bar")];
    expect(bars.map((bar) => bar.style.width)).toEqual(["100%", "80%", "20%", "20%"]);
    const parts = [...(bars[2]?.querySelectorAll<HTMLElement>("i") ?? [])];
    expect(parts.map((part) => part.style.flexGrow)).toEqual(["15", "5"]);
  });

  it("counts host time where no device recorded any, and opens the module that is clicked", async () => {
    const onHost = table(COLUMNS, [["Net_0", 0, 1, null, 60, null, 60, null, 40, 1]]);
    const chosen: Row[] = [];
    await act(() => render(<ModuleTree modules={onHost} choose={(row) => chosen.push(row)} />, root));
    expect(root.textContent).toContain("Time on the host");
    expect(root.querySelector<HTMLElement>(".backward[style]")?.style.flexGrow).toBe("40");
    root.querySelector<HTMLButtonElement>(".row-act")?.click();
    expect(chosen).toEqual([onHost.rows[0]]);
  });
});
