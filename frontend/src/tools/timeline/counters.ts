/** Counters: their values at a time, and the areas that they are drawn as. */

import type { LaneEntry } from "../../api/timeline";
import { firstIndex } from "../../base/bisect";
import { largest } from "../../base/extent";
import { formatMemory, formatNumber, formatPercent } from "../../base/format";
import { toPixel } from "../../canvas/viewport";
import type { FrameInput } from "./frameinput";
import type { Counter } from "./sliceloader";

/** What a counter's value is called. */
export function counterValueText(lane: LaneEntry, value: number): string {
  if (lane.unit === "share") return formatPercent(value, 0);
  return lane.unit === "bytes" ? formatMemory(value) : formatNumber(value);
}

/** The value of a counter at a time; null before the first. */
export function counterValueAt({ begin, last }: Counter, time: number): number | null {
  const next = firstIndex(0, begin.length, (index) => (begin[index] as number) > time);
  return next ? (last[next - 1] as number) : null;
}

interface CounterPlace {
  readonly lane: LaneEntry;
  readonly top: number;
  readonly height: number;
}

export function paintCounter({ scene, context, colours }: FrameInput, counter: Counter, place: CounterPlace): void {
  const { lane, top, height } = place;
  const { width } = scene.size;
  const { begin, low, high, last } = counter;
  const most = largest(high, lane.unit === "share" ? 1 : 0);
  const y = (value: number) => top + height - (most > 0 ? (Math.max(0, value) / most) * (height - 2) : 0);
  context.fillStyle = colours.counter(lane.unit);
  for (let at = 0; at < begin.length; at++) {
    const from = toPixel(scene.view, width, begin[at] as number);
    const to = at + 1 < begin.length ? toPixel(scene.view, width, begin[at + 1] as number) : width;
    if (to < 0 || from > width) continue;
    const peak = y(high[at] as number);
    context.fillRect(from, peak, 1, Math.max(1, y(low[at] as number) - peak));
    const level = y(last[at] as number);
    context.fillRect(from, level, Math.max(1, to - from + 0.5), top + height - level); // No seams between columns.
  }
  const label = counterValueText(lane, most);
  context.fillStyle = colours.page;
  context.fillRect(2, top, context.measureText(label).width + 4, 14);
  context.fillStyle = colours.quiet;
  context.fillText(label, 4, top + 7);
}
