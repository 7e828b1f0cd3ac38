/** The window of time that is shown, and the arithmetic of moving it. Times are ps, positions are CSS pixels. */

import { clamp } from "../base/clamp";

export interface Viewport {
  readonly begin: number;
  readonly end: number;
}

/** The narrowest window: below it a pixel would be a fraction of the clock's tick. */
export const NARROWEST_VIEW_PS = 1000;
/** How far beyond the capture one may look, as a share of the window. */
const MARGIN_SHARE = 0.1;

/** How long it is, ps. */
export const viewSpan = (view: Viewport) => view.end - view.begin;

/** Where a time stands, px from the left. */
export function toPixel(view: Viewport, widthPx: number, time: number): number {
  return ((time - view.begin) / viewSpan(view)) * widthPx;
}

/** The time that stands so many px from the left. */
export function toTime(view: Viewport, widthPx: number, pixel: number): number {
  return view.begin + (pixel / widthPx) * viewSpan(view);
}

/** Keeps the window within the capture, but for a margin, and not too narrow. */
export function clampView(view: Viewport, duration: number): Viewport {
  const widest = duration * (1 + 2 * MARGIN_SHARE);
  const span = clamp(viewSpan(view), Math.min(NARROWEST_VIEW_PS, duration), widest);
  const middle = (view.begin + view.end) / 2;
  const slack = Math.min(span, duration) * MARGIN_SHARE;
  const begin = clamp(middle - span / 2, -slack, Math.max(-slack, duration + slack - span));
  return { begin, end: begin + span };
}

/** Moves the window later by so many ps. */
export function panView(view: Viewport, byPs: number): Viewport {
  return { begin: view.begin + byPs, end: view.end + byPs };
}

/** A factor below 1 shows less; `fixedTime` stays where it is. */
export function zoomView(view: Viewport, factor: number, fixedTime: number): Viewport {
  return { begin: fixedTime - (fixedTime - view.begin) * factor, end: fixedTime + (view.end - fixedTime) * factor };
}

/** A window around an event, `factor` times as long, so that its surroundings show too. */
export function viewAround(begin: number, end: number, factor: number, leastPs: number): Viewport {
  const span = Math.max((end - begin) * factor, leastPs);
  const middle = (begin + end) / 2;
  return { begin: middle - span / 2, end: middle + span / 2 };
}

/** The window between two others, for a soft move; `share` runs from 0 to 1. Spans change evenly in their logarithm. */
export function viewBetween(from: Viewport, to: Viewport, share: number): Viewport {
  const ratio = viewSpan(to) / viewSpan(from);
  const span = viewSpan(from) * ratio ** share;
  // The point that keeps its place on the screen while the span changes leads the eye; without one, go straight.
  const movedShare = Math.abs(ratio - 1) < 1e-6 ? share : (ratio ** share - 1) / (ratio - 1);
  const begin = from.begin + (to.begin - from.begin) * movedShare;
  return { begin, end: begin + span };
}
