import { signal } from "@preact/signals";
import { expect, it } from "vitest";
import type { Viewport } from "../../src/canvas/viewport";
import { linkViews, nearestEvent } from "../../src/tools/timeline/linkedscenes";
import type { Scene } from "../../src/tools/timeline/scene";

function scene(end: number): Scene {
  const capture = { begin: 0, end };
  return { capture, bounds: capture, state: { view: signal<Viewport | null>(null) } } as unknown as Scene;
}

it("moves both scenes together, whichever is moved, as far as either has anything to show", () => {
  const [one, other] = [scene(1e9), scene(5e9)];
  const offset = signal(3e9);
  const stop = linkViews(one, other, offset);
  expect(other.state.view.value).toEqual({ begin: 3e9, end: 4e9 });
  expect(one.bounds).toEqual({ begin: -3e9, end: 2e9 });
  expect(other.bounds).toEqual({ begin: 0, end: 5e9 });
  one.state.view.value = { begin: 1e8, end: 2e8 };
  expect(other.state.view.value).toEqual({ begin: 3.1e9, end: 3.2e9 });
  other.state.view.value = { begin: 0, end: 1e9 };
  expect(one.state.view.value).toEqual({ begin: -3e9, end: -2e9 });
  offset.value = 1e9;
  expect(other.state.view.value).toEqual({ begin: -2e9, end: -1e9 });
  expect(one.state.view.value).toEqual({ begin: -3e9, end: -2e9 });
  stop();
  expect(one.bounds).toBe(one.capture);
  one.state.view.value = { begin: 0, end: 1 };
  expect(other.state.view.value).toEqual({ begin: -2e9, end: -1e9 });
});

it("finds the event of a name that lies nearest, and none that only says so in its stats", () => {
  const arrays = {
    host: new Uint16Array([0, 0, 0]),
    lane: new Uint16Array([1, 2, 3]),
    row: new Uint16Array([0, 1, 2]),
    event: new Uint32Array([7, 8, 9]),
    name: new Uint32Array([4, 5, 4]),
    begin: new Float64Array([100, 200, 400]),
  };
  const slab = { facts: { names: ["0.4"] }, arrays };
  expect(nearestEvent(slab, 210)).toEqual({ event: "0.7", lane: "0.1", row: 0 });
  expect(nearestEvent(slab, 390)).toEqual({ event: "0.9", lane: "0.3", row: 2 });
  expect(nearestEvent({ facts: { names: [] }, arrays }, 210)).toBeNull();
});
