import { type ComponentChild, render } from "preact";
import { act } from "preact/test-utils";
import { expect, it } from "vitest";
import { doubtsOf } from "../../src/state/doubts";
import { DoubtContext } from "../../src/view/doubt";
import { Grid } from "../../src/view/grid";
import { Figure } from "../../src/view/textparts";
import { column, table } from "../table";
import { root, withRoot } from "./root";

const DOUBTS = doubtsOf(
  [{ code: "c", message: "Steps are cut.", remedy: "", where: "", severity: "warning", affects: ["average"] }],
  "",
  [],
  false,
);

withRoot();

async function marks(content: ComponentChild): Promise<Element[]> {
  await act(() => render(<DoubtContext.Provider value={DOUBTS}>{content}</DoubtContext.Provider>, root));
  return [...root.querySelectorAll("[role=img]")];
}

it("marks a figure that suffers, with the reason for eyes, pointer and keyboard", async () => {
  const [mark, ...more] = await marks(<Figure label="Average" value="3 ms" depends={["host", "average"]} />);
  expect(more).toEqual([]);
  expect(mark?.getAttribute("aria-label")).toContain("Steps are cut.");
  expect(mark?.getAttribute("data-tip")).toContain("Steps are cut.");
  expect((mark as HTMLElement).tabIndex).toBe(0);
});

it("leaves other figures alone", async () => {
  expect(await marks(<Figure label="Median" value="3 ms" depends={["device"]} />)).toEqual([]);
  expect(await marks(<Figure label="Median" value="3 ms" />)).toEqual([]);
});

it("marks the head of a column, whose button tells the reason besides what the column is", async () => {
  const average = column("average_ms", "number", { doc: "Over steps.", depends: ["average"] });
  const found = await marks(<Grid table={table([column("host", "string"), average], [["a", 1]])} name="t" />);
  expect(found.length).toBe(1);
  expect(found[0]?.closest("button")?.getAttribute("data-tip")).toBe("Over steps. Steps are cut.");
});
