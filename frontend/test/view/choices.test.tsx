import { type ComponentChild, render } from "preact";
import { act } from "preact/test-utils";
import { beforeEach, expect, it } from "vitest";
import { memoryOptions, type OptionStore } from "../../src/state/optionstore";
import { OptionStoreContext, useChoice } from "../../src/view/choices";
import { Grid } from "../../src/view/grid";
import { column, table as made } from "../table";
import { root, withRoot } from "./root";

let keeper: OptionStore;
/** Options of every step that Back would undo. */
let steps: object[];

withRoot();
beforeEach(() => {
  steps = [];
  const memory = memoryOptions();
  keeper = {
    options: memory.options,
    write: (options, step) => {
      if (step) steps.push(options);
      memory.write(options, step);
    },
  };
});

async function show(content: ComponentChild): Promise<void> {
  await act(() => render(<OptionStoreContext.Provider value={keeper}>{content}</OptionStoreContext.Provider>, root));
}

const table = made(
  [column("op", "string"), column("kind", "string"), column("time")],
  Array.from({ length: 20 }, (_, at) => [`op${at}`, at % 2 ? "odd" : "even", at]),
);
const SPECS = { kind: { facet: true } };
const SORT = [{ id: "time", desc: true }];
const grid = (link?: (row: readonly unknown[]) => { href: string; go: () => void }) => (
  <Grid table={table} specs={SPECS} name="t" id="ops" sort={SORT} {...(link && { link })} />
);
const first = () => root.querySelector("tbody td")?.textContent;
const rows = () => root.querySelectorAll("tbody tr").length;

it("writes what is typed, sorted and chosen, and only the choice is a step", async () => {
  await show(grid());
  expect(keeper.options.peek()).toEqual({});
  await act(() => root.querySelector<HTMLButtonElement>("thead button")?.click());
  const input = root.querySelector<HTMLInputElement>("[data-filter]") as HTMLInputElement;
  await act(() => {
    input.value = "op1 ";
    input.dispatchEvent(new Event("input"));
  });
  expect(input.value).toBe("op1 ");
  expect(keeper.options.peek()).toEqual({ "ops.sort": "op", "ops.find": "op1" });
  expect(steps).toEqual([]);
  const facet = root.querySelector("select") as HTMLSelectElement;
  await act(() => {
    facet.value = "odd";
    facet.dispatchEvent(new Event("change", { bubbles: true }));
  });
  expect(steps).toEqual([{ "ops.sort": "op", "ops.find": "op1", "ops.only.kind": "odd" }]);
  expect(rows()).toBe(6);
});

it("begins as the address says and follows it, also back to the usual", async () => {
  keeper.write({ "ops.find": "op1", "ops.sort": "time", "ops.only.kind": "odd" }, false);
  await show(grid());
  expect([first(), rows()]).toEqual(["op1", 6]);
  expect(root.querySelector<HTMLInputElement>("[data-filter]")?.value).toBe("op1");
  await act(() => keeper.write({}, false));
  expect([first(), rows()]).toEqual(["op19", 20]);
  expect(root.querySelector<HTMLInputElement>("[data-filter]")?.value).toBe("");
  expect(steps).toEqual([]);
});

it("makes the name of a row a link that the keyboard reaches", async () => {
  const gone: unknown[] = [];
  await show(grid((row) => ({ href: `#${row[0]}`, go: () => gone.push(row[0]) })));
  const link = root.querySelector<HTMLAnchorElement>("tbody a");
  expect([link?.getAttribute("href"), link?.textContent]).toEqual(["#op19", "op19"]);
  await act(() => link?.click());
  await act(() => root.querySelector<HTMLElement>("tbody td:last-child")?.click());
  expect(gone).toEqual(["op19", "op19"]);
});

it("keeps one choice, and drops it where it is the usual one", async () => {
  function Chooser() {
    const [value, set] = useChoice("as");
    return (
      <button type="button" onClick={() => set(value ? "" : "table")}>
        {value || "chart"}
      </button>
    );
  }
  await show(<Chooser />);
  const button = root.querySelector("button") as HTMLButtonElement;
  await act(() => button.click());
  expect([button.textContent, keeper.options.peek()]).toEqual(["table", { as: "table" }]);
  await act(() => button.click());
  expect([button.textContent, keeper.options.peek()]).toEqual(["chart", {}]);
});
