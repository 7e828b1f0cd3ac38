/** Two scenes that move together: a time of one is a time of the other, some picoseconds later. */

import { effect, type ReadonlySignal } from "@preact/signals";
import type { Slab } from "../../base/slab";
import { panView, type Viewport } from "../../canvas/viewport";
import { namePattern } from "../../state/links";
import type { Scene } from "./scene";

/** Below a tick of any clock: what additions leave over. */
const SAME_WITHIN_PS = 1;

function isDifferentView(a: Viewport, b: Viewport | null): boolean {
  return !b || Math.abs(a.begin - b.begin) > SAME_WITHIN_PS || Math.abs(a.end - b.end) > SAME_WITHIN_PS;
}

/** Keeps the windows of both equal, `offset` ps apart; returns how to let them go. */
export function linkViews(one: Scene, other: Scene, offset: ReadonlySignal<number>): () => void {
  const cleanups = [
    effect(() => {
      const by = offset.value;
      const [begin, end] = [
        Math.min(one.capture.begin, other.capture.begin - by),
        Math.max(one.capture.end, other.capture.end - by),
      ];
      one.bounds = { begin, end };
      other.bounds = panView(one.bounds, by);
    }),
    effect(() => {
      const next = panView(one.state.view.value ?? one.capture, offset.value);
      if (isDifferentView(next, other.state.view.peek())) other.state.view.value = next;
    }),
    effect(() => {
      const view = other.state.view.value;
      const next = view && panView(view, -offset.peek());
      if (next && isDifferentView(next, one.state.view.peek() ?? one.capture)) one.state.view.value = next;
    }),
  ];
  return () => {
    for (const cleanup of cleanups) cleanup();
    one.bounds = one.capture;
  };
}

interface EventPosition {
  readonly event: string;
  readonly lane: string;
  readonly row: number;
}

/** The event that begins nearest to a time (ps), among those that a search for their name found; null for none. */
export function nearestEvent({ facts, arrays }: Slab, time: number): EventPosition | null {
  const { host, lane, row, event, name, begin } = arrays;
  const names = new Set(facts.names as readonly string[]);
  let nearestIndex = -1;
  for (let at = 0; at < (begin?.length ?? 0); at++) {
    // Others have the text among their stats.
    if (!names.has(`${host?.[at]}.${name?.[at]}`)) continue;
    const distancePs = Math.abs((begin?.[at] as number) - time);
    if (nearestIndex < 0 || distancePs < Math.abs((begin?.[nearestIndex] as number) - time)) nearestIndex = at;
  }
  if (nearestIndex < 0) return null;
  return {
    event: `${host?.[nearestIndex]}.${event?.[nearestIndex]}`,
    lane: `${host?.[nearestIndex]}.${lane?.[nearestIndex]}`,
    row: row?.[nearestIndex] as number,
  };
}

/** Selects in the other scene what is selected in the one: the event of the same name that lies nearest to it. */
export function linkSelection(one: Scene, other: Scene, offset: ReadonlySignal<number>): () => void {
  let controller = new AbortController();
  const stop = effect(() => {
    const chosen = one.state.details.value;
    controller.abort();
    controller = new AbortController();
    const { signal } = controller;
    if (!chosen) {
      other.state.event.value = "";
      return;
    }
    const show = (slab: Slab) => {
      const nearest = nearestEvent(slab, chosen.begin + offset.peek());
      if (nearest && !signal.aborted) other.scrollTo(nearest.lane, nearest.row);
      if (!signal.aborted) other.state.event.value = nearest?.event ?? "";
    };
    // Where nothing can be searched for, nothing is selected.
    other.api.search(namePattern(chosen.full_name), { regex: true, longest: false }, signal).then(show, () => {});
  });
  return () => {
    stop();
    controller.abort();
  };
}
