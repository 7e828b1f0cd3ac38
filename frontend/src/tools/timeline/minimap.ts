/** The minimap of the whole capture: how busy its lanes are, and which part of it is shown. */

import { largest } from "../../base/extent";
import type { Slab } from "../../base/slab";
import { toPixel } from "../../canvas/viewport";
import type { FrameInput, Overview } from "./frameinput";
import { MINIMAP_PX, type Scene } from "./scene";

/** Resolution of the minimap, whatever its width. */
export const OVERVIEW_COLUMNS = 600;

/** Sums up what the first rows of all lanes hold. */
export function busyOverview(slab: Slab, duration: number): Overview {
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
  const most = largest(overview) || 1;
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
