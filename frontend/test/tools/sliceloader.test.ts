import { expect, it, vi } from "vitest";
import type { LaneEntry, TimelineApi } from "../../src/api/timeline";
import type { Renderer } from "../../src/canvas/renderer";
import type { EventNames } from "../../src/tools/timeline/eventnames";
import { SliceLoader } from "../../src/tools/timeline/sliceloader";

const LANE = { key: "0.1", kind: "thread", rows: 2 } as LaneEntry;
const VIEW = { begin: 0, end: 100 };
/** Two slices on the first row, one on the second. */
const SLAB = {
  facts: { begin: -50, end: 150, origin: -200, unit: 2, counts: [[2, 1]] },
  arrays: {
    begin: new Uint32Array([100, 110, 105]),
    width: new Uint32Array([5, 5, 10]),
    name: new Uint32Array([0, 1, 0]),
    event: new Uint32Array([7, 8, 9]),
    count: new Uint32Array([1, 1, 1]),
    busy: new Uint8Array([255, 255, 255]),
  },
};

/** A loader, what it uploads to and drops, and how to let it know its names. */
function started() {
  let namesAreThere = () => {};
  const names = { load: () => new Promise<void>((resolve) => (namesAreThere = resolve)) };
  const handle = { recolour: vi.fn(), dispose: vi.fn() };
  const renderer = { upload: vi.fn(() => handle) };
  const fillColours = vi.fn();
  const loader = new SliceLoader({
    api: () => ({ slices: async () => SLAB }) as unknown as TimelineApi,
    capturePs: 100,
    names: names as unknown as EventNames,
    renderer: renderer as unknown as Renderer,
    fillColours,
    onChange: vi.fn(),
  });
  loader.setNeeded([{ lane: LANE, rowLimit: 0 }], VIEW, 10);
  const later = () => new Promise((resolve) => setTimeout(resolve));
  const loadNames = async () => {
    await later();
    namesAreThere();
    await later();
  };
  return { loader, handle, renderer, fillColours, loadNames };
}

it("uploads slices once their names are known, and colours them anew when asked to", async () => {
  const { loader, handle, renderer, fillColours, loadNames } = started();
  await loadNames();
  expect(renderer.upload).toHaveBeenCalledTimes(1);
  const slices = loader.slicesByLane.get("0.1");
  expect(slices).toMatchObject({ originPs: -200, psPerUnit: 2, loadedFromPs: -50, loadedToPs: 150, count: 3 });
  expect([...(slices?.row ?? [])]).toEqual([0, 0, 1]);
  loader.recolour();
  expect([fillColours.mock.calls.length, handle.recolour.mock.calls.length]).toEqual([2, 1]);
});

it("uploads nothing once it is disposed of", async () => {
  const { loader, renderer, loadNames } = started();
  await new Promise((resolve) => setTimeout(resolve));
  loader.dispose();
  await loadNames();
  expect(renderer.upload).not.toHaveBeenCalled();
  expect(loader.slicesByLane.size).toBe(0);
});
