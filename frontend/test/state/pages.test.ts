import { expect, it } from "vitest";
import type { ToolEntry } from "../../src/base/schema";
import { groupsOf, missingByReason, pageToolOf } from "../../src/state/pages";

const lacks = (message: string) => ({ code: "c", message, remedy: "r", where: "", severity: "info" as const });

function tool(name: string, group: string, more: Partial<ToolEntry> = {}): ToolEntry {
  const rest = { title: name, doc: "", order: 0, all_hosts: true, streamed: false, params: [], page: "", shown_on: "" };
  return { name, group, heading: group, ...rest, unavailable: null, ...more };
}

const tools = [
  tool("summary", "Summary"),
  tool("why", "Summary", { shown_on: "summary" }),
  tool("ops", "Ops", { unavailable: lacks("no ops") }),
  tool("kernels", "Ops"),
  tool("graph", "Ops", { unavailable: lacks("no program") }),
  tool("memory", "Memory", { unavailable: lacks("no program") }),
];

it("stand in their groups, which never go away", () => {
  const found = groupsOf(tools).map(({ title, pages, first }) => [title, pages.map(({ name }) => name), first.name]);
  expect(found).toEqual([
    ["Summary", ["summary"], "summary"],
    ["Ops", ["kernels"], "kernels"],
    ["Memory", [], "memory"],
  ]);
});

it("put a late tool of another distribution where its group stands", () => {
  const [, ops] = groupsOf([...tools, tool("foreign", "Ops"), tool("alone", "More")]);
  expect(ops?.pages.map(({ name }) => name)).toEqual(["kernels", "foreign"]);
});

it("are told together where they lack the same", () => {
  expect(missingByReason(tools).map((pages) => pages.map(({ name }) => name))).toEqual([["ops"], ["graph", "memory"]]);
});

it("are found by the name of a tool that stands on another one's page", () => {
  expect(pageToolOf(tools, "why")?.name).toBe("summary");
  expect(pageToolOf(tools, "ops")?.name).toBe("ops");
  expect(pageToolOf(tools, "gone")).toBeUndefined();
});
