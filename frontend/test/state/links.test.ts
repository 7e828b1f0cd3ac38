import { signal } from "@preact/signals";
import { expect, it, vi } from "vitest";
import { clockChoice } from "../../src/api/timeline";
import { readTimelineView } from "../../src/base/timelinecodec";
import type { View } from "../../src/base/urlcodec";
import { linkTo, linkToEvent, linkToOpEvents, linkToTime } from "../../src/state/links";

function store(...names: string[]) {
  const value = names.map((name) => ({ name, title: name, shown_on: name === "why" ? "overview_page" : "" }));
  const made = {
    tools: { state: signal({ value, problem: null, loading: false }) },
    view: signal<View>({ run: "r", tool: "overview_page", host: "", base: "", lang: "", options: {} }),
    go: vi.fn<(change: Partial<View>) => void>(),
    href: (change: Partial<View>) => JSON.stringify(change),
  };
  return made as typeof made & Parameters<typeof linkTo>[0];
}

it("leads to tools that this capture has, and not to the one that is shown", () => {
  const some = store("overview_page", "other");
  expect(linkTo(some, "other")?.label).toBe("other");
  expect(linkTo(some, "overview_page")).toBeUndefined();
  expect(linkTo(some, "gone")).toBeUndefined();
  expect(linkTo(store("overview_page", "why"), "why")).toBeUndefined();
  expect(linkToOpEvents(some, "MatMul")).toBeUndefined();
});

it("finds an op's events and not those of ops whose names it is a part of", () => {
  const some = store("trace_viewer");
  linkToOpEvents(some, "Iterator::Map[0]")?.go();
  const { options = {} } = some.go.mock.calls[0]?.[0] ?? {};
  const place = readTimelineView(options);
  expect([place.regex, place.longest, place.go]).toEqual([true, true, true]);
  const found = new RegExp(place.find, "i");
  expect(["Iterator::Map[0]", "Iterator::Map[0]:Map"].every((name) => found.test(name))).toBe(true);
  expect(["Iterator::Map[0]::Range", "x/Iterator::Map[0]", "Iterator::Map0"].some((name) => found.test(name))).toBe(
    false,
  );
  expect(linkToOpEvents(some, "")).toBeUndefined();
});

it("finds names that are too long for an expression by how they begin", () => {
  const some = store("trace_viewer");
  linkToOpEvents(some, "k(".repeat(2000))?.go();
  const place = readTimelineView(some.go.mock.calls[0]?.[0].options ?? {});
  expect(place.find.length).toBeLessThan(1000);
  expect(new RegExp(place.find).test("k(".repeat(2000))).toBe(true);
});

it("shows a span of time with a little around it, on the host that it was told", () => {
  const some = store("trace_viewer");
  linkToTime(some, { beginMs: 10, lengthMs: 100, host: "worker-1" })?.go();
  const change = some.go.mock.calls[0]?.[0];
  expect(change?.host).toBe("worker-1");
  expect(readTimelineView(change?.options ?? {}).window).toEqual([6e9, 114e9]);
  linkToTime(some, { beginMs: 10, lengthMs: 100 })?.go();
  expect(some.go.mock.calls[1]?.[0]).not.toHaveProperty("host");
  // Its times are by the hosts' own clocks.
  expect(clockChoice(some.go.mock.calls[1]?.[0].options ?? {})).toBe("raw");
  expect(clockChoice(change?.options ?? {})).toBe("");
});

it("names one event", () => {
  const some = store("trace_viewer");
  linkToEvent(some, 1, 42)?.go();
  expect(readTimelineView(some.go.mock.calls[0]?.[0].options ?? {}).event).toBe("1.42");
});
