/** Dragging over a chart's columns chooses some of them. */

import type { EChartsType } from "echarts/core";

/** What a drag covers, in pixels of the chart; null while there is none. */
export interface Band {
  readonly left: number;
  readonly width: number;
}

/** Shorter drags are clicks, px. */
const LEAST = 6;

interface At {
  readonly offsetX: number;
  readonly offsetY: number;
}

/** Calls `chosen` with the first and the last column of a drag. Returns whether the click that follows belongs to one. */
export function brush(
  chart: EChartsType,
  chosen: (first: number, last: number) => void,
  draw: (band: Band | null) => void,
): () => boolean {
  const zr = chart.getZr();
  let from: At | null = null;
  let dragged = false;
  const far = (at: At) => from !== null && Math.abs(at.offsetX - from.offsetX) >= LEAST;
  const column = (x: number, y: number) => Math.max(0, chart.convertFromPixel("grid", [x, y])[0] as number);
  zr.on("mousedown", (at) => {
    from = chart.containPixel("grid", [at.offsetX, at.offsetY]) ? at : null;
    dragged = false;
  });
  zr.on("mousemove", (at) => {
    if (!from || !far(at)) return;
    const left = Math.min(from.offsetX, at.offsetX);
    draw({ left, width: Math.max(from.offsetX, at.offsetX) - left });
  });
  zr.on("mouseup", (at) => {
    dragged = far(at);
    if (from && dragged) {
      const [begin, end] = [column(from.offsetX, from.offsetY), column(at.offsetX, from.offsetY)];
      chosen(Math.min(begin, end), Math.max(begin, end));
    }
    from = null;
    draw(null);
  });
  zr.on("globalout", () => {
    from = null;
    draw(null);
  });
  return () => dragged;
}
