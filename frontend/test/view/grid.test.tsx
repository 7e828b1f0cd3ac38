import { render } from "preact";
import { act } from "preact/test-utils";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { type RowChoice, type RowSource, Table } from "../../src/base/table";
import { Grid } from "../../src/view/grid";
import { column } from "../table";
import { root, withRoot } from "./root";

withRoot();
beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const named = (rows: number, names: string[]) => ({
  label: "",
  doc: "",
  rows,
  columns: [{ ...column("name", "string"), values: names }],
});

const texts = () => [...root.querySelectorAll("tbody tr:not(.spacer)")].map((row) => row.textContent);

it("shows the rows that are here of a long table, and asks the server for sorted and found ones", async () => {
  const asked: [RowChoice, number, number][] = [];
  const source: RowSource = {
    rows: async (choice, first, count) => {
      asked.push([choice, first, count]);
      return named(choice.find ? 2 : 9000, ["zeta", "eta"]);
    },
    file: (_, format) => `rows_file?format=${format}`,
    csv: async () => "",
  };
  const names = Array.from({ length: 500 }, (_, place) => `n${place}`);
  await act(async () => render(<Grid table={Table.fromAnswer(named(9000, names), source)} name="t" />, root));
  await act(async () => void (await vi.advanceTimersByTimeAsync(200)));
  expect([texts()[0], asked]).toEqual(["n0", []]);
  expect(root.querySelector(".toolbar")?.textContent).toContain("9,000 rows");

  await act(async () => root.querySelector<HTMLButtonElement>("thead button")?.click());
  expect(texts()[0]).toBe("…");
  await act(async () => void (await vi.advanceTimersByTimeAsync(200)));
  expect(texts().slice(0, 2)).toEqual(["zeta", "eta"]);
  expect(asked.at(-1)).toEqual([expect.objectContaining({ sort: [{ id: "name", desc: false }] }), 0, 250]);

  const filter = root.querySelector<HTMLInputElement>("input[type=search]");
  await act(async () => {
    if (filter) filter.value = "eta";
    filter?.dispatchEvent(new Event("input", { bubbles: true }));
  });
  await act(async () => void (await vi.advanceTimersByTimeAsync(200)));
  expect(asked.at(-1)?.[0].find).toBe("eta");
  expect(root.querySelector(".toolbar")?.textContent).toContain("2 of 9,000 rows");
  expect(texts()).toEqual(["zeta", "eta"]);
});

it("says so where rows cannot be had", async () => {
  const source: RowSource = {
    rows: async () => Promise.reject(new Error("gone")),
    file: () => "",
    csv: async () => "",
  };
  const table = Table.fromAnswer(named(9000, ["a"]), source);
  await act(async () => render(<Grid table={table} name="t" sort={[{ id: "name", desc: true }]} />, root));
  await act(async () => void (await vi.advanceTimersByTimeAsync(200)));
  expect(root.textContent).toContain("This page has a bug.");
});
