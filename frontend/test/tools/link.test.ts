import { signal } from "@preact/signals";
import { expect, it } from "vitest";
import type { Viewport } from "../../src/canvas/viewport";
import { link } from "../../src/tools/timeline/link";
import type { Scene } from "../../src/tools/timeline/scene";

function scene(end: number): Scene {
  const whole = { begin: 0, end };
  return { whole, bounds: whole, state: { view: signal<Viewport | null>(null) } } as unknown as Scene;
}

it("moves both scenes together, whichever is moved, as far as either has anything to show", () => {
  const [one, other] = [scene(1e9), scene(5e9)];
  const offset = signal(3e9);
  const stop = link(one, other, offset);
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
  expect(one.bounds).toBe(one.whole);
  one.state.view.value = { begin: 0, end: 1 };
  expect(other.state.view.value).toEqual({ begin: -2e9, end: -1e9 });
});
