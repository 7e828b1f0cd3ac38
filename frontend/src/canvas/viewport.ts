/** The window of time that is shown, and the arithmetic of moving it. Times are ps, places are CSS pixels. */

export interface Viewport {
  readonly begin: number;
  readonly end: number;
}

/** Below this a pixel would be a fraction of the clock's tick. */
const LEAST = 1000;
/** How far beyond the capture one may look, as a share of the window. */
const MARGIN = 0.1;

export const spanOf = (view: Viewport) => view.end - view.begin;

export function toPixel(view: Viewport, width: number, time: number): number {
  return ((time - view.begin) / spanOf(view)) * width;
}

export function toTime(view: Viewport, width: number, pixel: number): number {
  return view.begin + (pixel / width) * spanOf(view);
}

/** Keeps the window within the capture, but for a margin, and not too narrow. */
export function clamp(view: Viewport, duration: number): Viewport {
  const widest = duration * (1 + 2 * MARGIN);
  const span = Math.min(Math.max(spanOf(view), Math.min(LEAST, duration)), widest);
  const middle = (view.begin + view.end) / 2;
  const slack = Math.min(span, duration) * MARGIN;
  const begin = Math.min(Math.max(middle - span / 2, -slack), Math.max(-slack, duration + slack - span));
  return { begin, end: begin + span };
}

export function pan(view: Viewport, by: number): Viewport {
  return { begin: view.begin + by, end: view.end + by };
}

/** A factor below 1 shows less; the time `at` stays where it is. */
export function zoom(view: Viewport, factor: number, at: number): Viewport {
  return { begin: at - (at - view.begin) * factor, end: at + (view.end - at) * factor };
}

/** A window around an event, `times` as long, so that its surroundings show too. */
export function around(begin: number, end: number, times: number, least: number): Viewport {
  const span = Math.max((end - begin) * times, least);
  const middle = (begin + end) / 2;
  return { begin: middle - span / 2, end: middle + span / 2 };
}

/** The window between two others, for a soft move; `share` runs from 0 to 1. Spans change evenly in their logarithm. */
export function between(from: Viewport, to: Viewport, share: number): Viewport {
  const ratio = spanOf(to) / spanOf(from);
  const span = spanOf(from) * ratio ** share;
  // The point that keeps its place on the screen while the span changes leads the eye; without one, go straight.
  const way = Math.abs(ratio - 1) < 1e-6 ? share : (ratio ** share - 1) / (ratio - 1);
  const begin = from.begin + (to.begin - from.begin) * way;
  return { begin, end: begin + span };
}
