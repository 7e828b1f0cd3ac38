/** Choosing columns of a chart by dragging over them. */

import type { EChartsType } from "echarts/core";

/** What a drag covers, in pixels of the chart; null while there is none. */
export interface SelectedBand {
  readonly left: number;
  readonly width: number;
}

/** Shorter drags are clicks, px. */
const SHORTEST_DRAG = 6;

/** A position of the pointer in the chart, px. */
interface PointerPosition {
  readonly offsetX: number;
  readonly offsetY: number;
}

/**
 * Calls `chosen` with the first and the last column of each drag, and `draw` while it lasts. Returns a function that
 * says whether a click is the end of a drag.
 */
export function listenToDrags(
  chart: EChartsType,
  chosen: (first: number, last: number) => void,
  draw: (band: SelectedBand | null) => void,
): () => boolean {
  const zr = chart.getZr();
  let start: PointerPosition | null = null;
  let isDrag = false;
  const isFar = (point: PointerPosition) => start !== null && Math.abs(point.offsetX - start.offsetX) >= SHORTEST_DRAG;
  const columnAt = (x: number, y: number) => Math.max(0, chart.convertFromPixel("grid", [x, y])[0] as number);
  zr.on("mousedown", (point) => {
    start = chart.containPixel("grid", [point.offsetX, point.offsetY]) ? point : null;
    isDrag = false;
  });
  zr.on("mousemove", (point) => {
    if (!start || !isFar(point)) return;
    const left = Math.min(start.offsetX, point.offsetX);
    draw({ left, width: Math.max(start.offsetX, point.offsetX) - left });
  });
  zr.on("mouseup", (point) => {
    isDrag = isFar(point);
    if (start && isDrag) {
      const [begin, end] = [columnAt(start.offsetX, start.offsetY), columnAt(point.offsetX, start.offsetY)];
      chosen(Math.min(begin, end), Math.max(begin, end));
    }
    start = null;
    draw(null);
  });
  zr.on("globalout", () => {
    start = null;
    draw(null);
  });
  return () => isDrag;
}
