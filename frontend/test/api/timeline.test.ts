import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { setBaseAddress } from "../../src/api/client";
import { loadStepSlices, TimelineApi } from "../../src/api/timeline";

const { signal } = new AbortController();
const AREA = { lanes: ["0.1:0-2", "0.2"], begin: 1.4e9, end: 2e9 };

beforeEach(() => setBaseAddress("http://host/"));
afterEach(() => vi.unstubAllGlobals());

/** The address that is asked. */
async function asked(ask: () => Promise<unknown>): Promise<string> {
  const fetched = vi.fn(async (_address: string) => new Response("{}"));
  vi.stubGlobal("fetch", fetched);
  await ask();
  return decodeURIComponent(fetched.mock.calls[0]?.[0] ?? "");
}

it("names lanes and whole picoseconds", async () => {
  const api = new TimelineApi("r", "h", "raw");
  expect(await asked(() => api.statistics(AREA, signal))).toBe(
    "http://host/timeline/statistics?run=r&host=h&clocks=raw&lanes=0.1:0-2,0.2&begin=1400000000&end=2000000000",
  );
  expect(await asked(() => loadStepSlices("r", "h", { begin: 0.4, end: 9.6 }, signal))).toBe(
    "http://host/timeline/glance?run=r&host=h&begin=0&end=10&width=1000",
  );
});

it("asks for the lanes that tell why devices are idle only where it is told to", async () => {
  const api = new TimelineApi("r", "h");
  const withIdle = api.withIdleLanes();
  expect(await asked(() => api.lanes(signal))).not.toContain("why=");
  expect(await asked(() => withIdle.lanes(signal))).toContain("why=1");
  expect(await asked(() => withIdle.event("0.7", signal))).toContain("why=1");
  expect(await asked(() => withIdle.steps(signal))).not.toContain("why=");
  expect(await asked(() => api.event("0.7", signal))).not.toContain("why=");
});

it("asks for the baseline's calls at the baseline's times", async () => {
  const api = new TimelineApi("r", "h");
  const choice = { weight: "time", inverted: true, base: { run: "b", offset: -1e9 } };
  const address = await asked(() => api.calls(AREA, choice, signal));
  expect(address).toContain("weight=time&inverted=1&base=b&base_begin=400000000&base_end=1000000000");
});

it("names the part of a trace in milliseconds", () => {
  const api = new TimelineApi("r", "");
  expect(api.traceFile()).toBe("http://host/data?run=r&tag=trace_viewer");
  expect(api.traceFile({ begin: -5, end: 2e9 })).toBe(
    "http://host/data?run=r&tag=trace_viewer&start_time_ms=0&end_time_ms=2",
  );
});
