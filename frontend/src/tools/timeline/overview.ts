/** The minimap of the whole capture, and counters as areas. */

import type { LaneEntry } from "../../api/timeline";
import { firstIndex } from "../../base/bisect";
import { memory, number, percent } from "../../base/format";
import type { Slab } from "../../base/slab";
import { toPixel } from "../../canvas/viewport";
import type { FrameInput, Overview } from "./frameinput";
import type { Counter } from "./loader";
import { MINIMAP_PX, type Scene } from "./scene";

/** Resolution of the minimap, whatever its width. */
export const OVERVIEW_COLUMNS = 600;

/** Sums up what the first rows of all lanes hold. */
export function overviewOf(slab: Slab, duration: number): Overview {
  const answer = new Float32Array(OVERVIEW_COLUMNS);
  const { begin, width, busy } = slab.arrays;
  if (!begin || !width || !busy) return answer;
  const [origin, unit] = [slab.facts.origin as number, slab.facts.unit as number];
  const scale = OVERVIEW_COLUMNS / duration;
  for (let at = 0; at < begin.length; at++) {
    const from = Math.max(0, (origin + (begin[at] as number) * unit) * scale);
    const to = Math.min(OVERVIEW_COLUMNS, from + (width[at] as number) * unit * scale);
    const share = (busy[at] as number) / 255;
    for (let column = Math.floor(from); column < to; column++) {
      const covered = Math.min(to, column + 1) - Math.max(from, column);
      answer[column] = (answer[column] as number) + covered * share;
    }
  }
  return answer;
}

export function paintMinimap({ scene, context, colours, overview }: FrameInput): void {
  const { width } = scene.size;
  const most = overview.reduce((a, b) => Math.max(a, b), 0) || 1;
  const columnWidth = width / overview.length;
  context.fillStyle = colours.busy;
  for (let at = 0; at < overview.length; at++) {
    const barHeight = Math.sqrt((overview[at] as number) / most) * (MINIMAP_PX - 6);
    context.fillRect(at * columnWidth, MINIMAP_PX - 2 - barHeight, columnWidth + 0.5, barHeight);
  }
  const { from, to } = minimapWindow(scene);
  context.fillStyle = colours.selection;
  context.fillRect(from, 0, to - from, MINIMAP_PX - 1);
  context.fillStyle = colours.accent;
  for (const x of [from, to - 2]) context.fillRect(x, 0, 2, MINIMAP_PX - 1);
  colours.drawRule(context, 0, MINIMAP_PX - 1, width);
}

/** The shown window on the minimap, at least wide enough to take hold of. */
export function minimapWindow(scene: Scene): { from: number; to: number } {
  const { width } = scene.size;
  const [begin, end] = [scene.view.begin, scene.view.end].map((time) => toPixel(scene.capture, width, time)) as [
    number,
    number,
  ];
  const from = Math.max(0, Math.min(begin, width - 4));
  return { from, to: Math.max(from + 4, Math.min(end, width)) };
}

/** What a counter's value is called. */
export function counterValueText(lane: LaneEntry, value: number): string {
  if (lane.unit === "share") return percent(value, 0);
  return lane.unit === "bytes" ? memory(value) : number(value);
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
  let most = lane.unit === "share" ? 1 : 0;
  for (const value of high) most = Math.max(most, value);
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
