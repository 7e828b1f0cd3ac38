/** Draws one frame: slices with the renderer, and above them text, axis, steps, selection, marks and arrows. */

import type { Arrow } from "../../api/timeline";
import { clamp } from "../../base/clamp";
import { textColour } from "../../base/slicecolour";
import { fitText } from "../../canvas/fittext";
import { axisTicks, lengthLabel, tickLabel } from "../../canvas/timeaxis";
import { toPixel } from "../../canvas/viewport";
import { fontFamily } from "../../view/fonts";
import { paintCounter } from "./counters";
import type { FrameInput, Rectangle } from "./frameinput";
import { type Band, summaryLanes } from "./layout";
import { paintMinimap } from "./minimap";
import { AXIS_PX, HEAD_PX, MINIMAP_PX, STEPS_PX } from "./scene";
import type { LaneSlices } from "./sliceloader";

const FONT = `11px ${fontFamily()}`;
/** Narrower slices show no name. */
const TEXT_FROM_PX = 28;
/** So many names are drawn in a frame: they are what takes the time. */
const MOST_TEXTS = 1500;
/** Paler slices show no name: those that are dimmed. */
const LEAST_NAMED_OPACITY = 90;

export function paintFrame(frame: FrameInput, ratio: number): void {
  const { scene, context, colours } = frame;
  const { width, height } = scene.size;
  const { canvas } = context;
  const pixelWidth = Math.round(width * ratio);
  const pixelHeight = Math.round(height * ratio);
  if (canvas.width !== pixelWidth) canvas.width = pixelWidth;
  if (canvas.height !== pixelHeight) canvas.height = pixelHeight;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  context.font = FONT;
  context.textBaseline = "middle";
  scene.renderer.start(width, height, ratio);
  paintGrid(frame);
  paintBands(frame, true);
  paintBands(frame, false);
  paintHead(frame);
  clipToTracks(frame, () => paintSelection(frame));
  colours.drawRule(context, 0, HEAD_PX - 0.5, width);
  if (scene.layout.peek().pinned.length) colours.drawRule(context, 0, scene.tracksTop - 0.5, width, true);
}

function clipToTracks({ scene, context }: FrameInput, draw: () => void): void {
  context.save();
  context.beginPath();
  context.rect(0, HEAD_PX, scene.size.width, scene.size.height - HEAD_PX);
  context.clip();
  draw();
  context.restore();
}

function paintGrid({ scene, context, colours }: FrameInput): void {
  const { width, height } = scene.size;
  const { timesPs } = axisTicks(scene.view, width);
  context.fillStyle = colours.faint;
  for (const time of timesPs)
    context.fillRect(Math.round(toPixel(scene.view, width, time)), HEAD_PX, 1, height - HEAD_PX);
}

function paintBands(frame: FrameInput, pinned: boolean): void {
  const { scene, context, colours } = frame;
  const { width, height } = scene.size;
  const [top, bottom] = pinned ? [HEAD_PX, scene.tracksTop] : [scene.tracksTop, height];
  if (bottom <= top) return;
  scene.renderer.clip(top, bottom);
  context.save();
  context.beginPath();
  context.rect(0, top, width, bottom - top);
  context.clip();
  let texts = 0;
  for (const [band, at] of scene.visibleBands()) {
    if (band.pinned !== pinned) continue;
    if (!band.lane) {
      context.fillStyle = colours.section; // Below it lies the canvas with the slices.
      if (band.folded) paintFoldedSection(frame, band, at);
      else context.fillRect(0, at, width, band.height - 1);
    } else if (band.lane.kind === "counter") {
      const counter = scene.loader.counters.get(band.lane.key);
      if (counter) paintCounter(frame, counter, { lane: band.lane, top: at, height: band.height - 4 });
    } else {
      texts += paintLane(frame, band, at, MOST_TEXTS - texts);
    }
  }
  context.restore();
}

function paintFoldedSection({ scene }: FrameInput, band: Band, top: number): void {
  for (const [at, { key }] of summaryLanes(band).entries()) {
    const laneSlices = scene.loader.slicesByLane.get(key);
    if (!laneSlices) continue;
    const lanePlace = { topPx: top + 3 + at * band.rowHeight, rowHeightPx: band.rowHeight + 1, rowCount: 1 };
    scene.renderer.draw(laneSlices.handle, { begin: scene.view.begin, psPerPixel: scene.psPerPixel, ...lanePlace });
  }
}

/** Draws a lane's slices and names, at most so many; returns how many names it drew. */
function paintLane(frame: FrameInput, band: Band, top: number, mostTexts: number): number {
  const { scene, context, colours } = frame;
  const laneSlices = scene.loader.slicesByLane.get(band.lane?.key ?? "");
  if (!laneSlices) {
    context.fillStyle = colours.faint;
    context.fillRect(0, top, scene.size.width, band.height - 3);
    return 0;
  }
  const lanePlace = { topPx: top, rowHeightPx: band.rowHeight, rowCount: band.rows };
  scene.renderer.draw(laneSlices.handle, { begin: scene.view.begin, psPerPixel: scene.psPerPixel, ...lanePlace });
  return paintNames(frame, laneSlices, { band, top, most: mostTexts });
}

/** Draws the names of slices that are wide enough, at most so many; returns how many it drew. */
function paintNames(
  { scene, context }: FrameInput,
  laneSlices: LaneSlices,
  { band, top, most }: { band: Band; top: number; most: number },
): number {
  const { width, height } = scene.size;
  const perUnit = laneSlices.psPerUnit / scene.psPerPixel;
  const shift = (laneSlices.originPs - scene.view.begin) / scene.psPerPixel;
  const leastWidth = TEXT_FROM_PX / perUnit;
  let drawn = 0;
  for (let row = 0; row < band.rows; row++) {
    const y = top + row * band.rowHeight;
    if (y > height || y + band.rowHeight < HEAD_PX) continue;
    const end = laneSlices.rowStart[row + 1] ?? laneSlices.count;
    for (let at = laneSlices.rowStart[row] ?? end; at < end && drawn < most; at++) {
      const sliceWidth = laneSlices.width[at] as number;
      if (
        sliceWidth < leastWidth ||
        (laneSlices.mergedCount[at] as number) > 1 ||
        (laneSlices.colour[4 * at + 3] as number) < LEAST_NAMED_OPACITY
      )
        continue;
      const from = Math.max(0, shift + (laneSlices.begin[at] as number) * perUnit);
      const to = Math.min(width, shift + ((laneSlices.begin[at] as number) + sliceWidth) * perUnit);
      if (to - from < TEXT_FROM_PX) continue;
      const text = fitText(context, scene.names.label(laneSlices.host, laneSlices.name[at] as number), to - from - 6);
      if (!text) continue;
      const [red = 0, green = 0, blue = 0] = laneSlices.colour.subarray(4 * at);
      context.fillStyle = textColour([red, green, blue]);
      context.fillText(text, from + 3, y + band.rowHeight / 2);
      drawn++;
    }
  }
  return drawn;
}

function paintHead(frame: FrameInput): void {
  const { scene, context, colours } = frame;
  const { width } = scene.size;
  context.fillStyle = colours.page;
  context.fillRect(0, 0, width, HEAD_PX);
  paintMinimap(frame);
  const { stepPs, timesPs } = axisTicks(scene.view, width);
  context.fillStyle = colours.quiet;
  for (const time of timesPs) {
    const x = Math.round(toPixel(scene.view, width, time));
    context.fillRect(x, MINIMAP_PX + AXIS_PX - 6, 1, 6);
    context.fillText(tickLabel(time, stepPs), x + 4, MINIMAP_PX + AXIS_PX / 2);
  }
  paintSteps(frame);
  for (const mark of scene.state.marks.peek()) paintMark(frame, mark.begin, mark.end, mark.name);
}

function paintSteps({ scene, context, colours }: FrameInput): void {
  const { width } = scene.size;
  const top = MINIMAP_PX + AXIS_PX;
  for (const { begin, end, name, complete } of scene.state.steps.peek().slice(0, 1)) {
    let lastRight = -10;
    for (let at = 0; at < begin.length; at++) {
      const from = toPixel(scene.view, width, begin[at] as number);
      const to = toPixel(scene.view, width, end[at] as number);
      if (to < 0 || from > width || to - lastRight < 1) continue;
      const left = Math.max(from, lastRight, 0);
      const stepWidth = Math.max(1, Math.min(to, width) - left - (to - from > 3 ? 1 : 0));
      context.fillStyle = complete[at] ? (at % 2 ? colours.step : colours.otherStep) : colours.faint;
      context.fillRect(left, top, stepWidth, STEPS_PX - 2);
      lastRight = left + stepWidth;
      if (stepWidth > TEXT_FROM_PX) {
        context.fillStyle = colours.text;
        context.fillText(fitText(context, name[at] ?? "", stepWidth - 6), left + 3, top + STEPS_PX / 2 - 1);
      }
    }
  }
}

function paintMark({ scene, context, colours }: FrameInput, begin: number, end: number, name: string): void {
  const { width, height } = scene.size;
  const [from, to] = [toPixel(scene.view, width, begin), toPixel(scene.view, width, end)];
  if (to < 0 || from > width) return;
  context.fillStyle = colours.mark;
  context.fillRect(from, MINIMAP_PX, Math.max(1, to - from), height);
  context.fillStyle = colours.accent;
  for (const x of [from, to]) context.fillRect(Math.round(x), MINIMAP_PX, 1, height);
  const label = [name, lengthLabel(end - begin)].filter(Boolean).join(" · ");
  const left = Math.max(2, Math.min(from + 3, width - 60));
  context.fillStyle = colours.page;
  context.fillRect(left - 1, MINIMAP_PX + 3, context.measureText(label).width + 4, 15);
  context.fillStyle = colours.accent;
  context.fillText(label, left + 1, MINIMAP_PX + 11);
}

function paintOutline(
  { scene, context }: FrameInput,
  event: NonNullable<FrameInput["hovered"]>,
  colour: string,
  lineWidth: number,
): void {
  const { width } = scene.size;
  const place = scene.rowPlace(event.lane, event.row);
  if (!place || (!place.pinned && place.top + place.height < scene.tracksTop)) return;
  const from = Math.max(-4, toPixel(scene.view, width, event.begin));
  const to = Math.min(width + 4, toPixel(scene.view, width, event.end));
  if (to < -2 || from > width + 2) return;
  context.strokeStyle = colour;
  context.lineWidth = lineWidth;
  context.strokeRect(from + 0.5, place.top + 0.5, Math.max(2, to - from - 1), place.height - 2);
}

function paintSelection(frame: FrameInput): void {
  const { scene, context, colours, drag, hovered } = frame;
  const { width } = scene.size;
  const { state } = scene;
  const box = state.box.peek();
  if (box) {
    const from = toPixel(scene.view, width, box.begin);
    const to = toPixel(scene.view, width, box.end);
    const [top, bottom] = scene.verticalExtent(box.lanes);
    if (bottom > top) paintBox(frame, { x0: from, y0: top, x1: to, y1: bottom });
  }
  if (drag?.kind === "box") paintBox(frame, drag);
  if (hovered) paintOutline(frame, hovered, colours.text, 1);
  const details = state.details.peek();
  if (details) paintOutline(frame, details, colours.accent, 2);
  for (const arrow of state.arrows.peek()) paintArrow(frame, arrow, 0.45);
  for (const arrow of details?.arrows ?? []) paintArrow(frame, arrow, 1);
  if (drag?.kind === "timing") {
    context.fillStyle = colours.mark;
    context.fillRect(drag.x0, HEAD_PX, drag.x1 - drag.x0, scene.size.height);
    context.fillStyle = colours.accent;
    const length = Math.abs(drag.x1 - drag.x0) * scene.psPerPixel;
    context.fillText(lengthLabel(length), Math.min(drag.x0, drag.x1) + 4, HEAD_PX + 10);
  }
}

function paintBox({ context, colours }: FrameInput, { x0, y0, x1, y1 }: Rectangle): void {
  context.fillStyle = colours.selection;
  context.strokeStyle = colours.accent;
  context.lineWidth = 1;
  context.fillRect(x0, y0, x1 - x0, y1 - y0);
  context.strokeRect(x0 + 0.5, y0 + 0.5, x1 - x0, y1 - y0);
}

function paintArrow({ scene, context, colours }: FrameInput, { kind, source, target }: Arrow, opacity: number): void {
  const { width } = scene.size;
  const [from, to] = [scene.rowPlace(source.lane, source.row), scene.rowPlace(target.lane, target.row)];
  if (!from || !to) return;
  const x0 = toPixel(scene.view, width, Math.min(source.end, Math.max(source.begin, target.begin)));
  const x1 = toPixel(scene.view, width, target.begin);
  if (Math.max(x0, x1) < -50 || Math.min(x0, x1) > width + 50) return;
  const [y0, y1] = [from.top + from.height / 2, to.top + to.height / 2];
  const bend = clamp(Math.abs(x1 - x0) / 2, 16, 120);
  context.globalAlpha = opacity;
  context.strokeStyle = context.fillStyle = colours.arrow(kind);
  context.lineWidth = opacity === 1 ? 1.5 : 1;
  context.beginPath();
  context.moveTo(x0, y0);
  context.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1 - 5, y1);
  context.stroke();
  context.beginPath();
  context.moveTo(x1, y1);
  context.lineTo(x1 - 7, y1 - 3.5);
  context.lineTo(x1 - 7, y1 + 3.5);
  context.fill();
  context.globalAlpha = 1;
}
