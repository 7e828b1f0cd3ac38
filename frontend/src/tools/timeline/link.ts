/** Two scenes that move together: a time of one is a time of the other, some picoseconds later. */

import { effect, type ReadonlySignal } from "@preact/signals";
import { pan, type Viewport } from "../../canvas/viewport";
import type { Scene } from "./scene";

/** Below a tick of any clock: what additions leave over. */
const SAME = 1;

function differ(a: Viewport, b: Viewport | null): boolean {
  return !b || Math.abs(a.begin - b.begin) > SAME || Math.abs(a.end - b.end) > SAME;
}

/** Keeps the windows of both equal, `offset` ps apart; returns how to let them go. */
export function link(one: Scene, other: Scene, offset: ReadonlySignal<number>): () => void {
  const stops = [
    effect(() => {
      const by = offset.value;
      const [begin, end] = [
        Math.min(one.whole.begin, other.whole.begin - by),
        Math.max(one.whole.end, other.whole.end - by),
      ];
      one.bounds = { begin, end };
      other.bounds = pan(one.bounds, by);
    }),
    effect(() => {
      const next = pan(one.state.view.value ?? one.whole, offset.value);
      if (differ(next, other.state.view.peek())) other.state.view.value = next;
    }),
    effect(() => {
      const view = other.state.view.value;
      const next = view && pan(view, -offset.peek());
      if (next && differ(next, one.state.view.peek() ?? one.whole)) one.state.view.value = next;
    }),
  ];
  return () => {
    for (const stop of stops) stop();
    one.bounds = one.whole;
  };
}
