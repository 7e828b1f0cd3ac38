/** Which renderer draws slices fastest on this machine: measured once, since browsers offer WebGL without a graphics card, too. */

import { createCanvas2dRenderer } from "./canvas2drenderer";
import type { Renderer, Slices } from "./renderer";
import { createWebglRenderer } from "./webglrenderer";

/** A frame as large as a window, with fewer slices than many have: they cost a processor 5 to 20 µs each. */
const TEST_SLICES = 2000;
const TEST_ROWS = 50;
const ROW_PX = 17;
const WIDTH_PX = 1600;
/** Graphics cards take a fraction of it, processors that play one several times as long. */
const FAST_MS = 5;
const MEASURED_FRAMES = 3;

function testSlices(): Slices {
  const perRow = TEST_SLICES / TEST_ROWS;
  return {
    count: TEST_SLICES,
    originPs: 0,
    psPerUnit: 1,
    begin: Uint32Array.from({ length: TEST_SLICES }, (_, at) => 4 * (at % perRow)),
    width: new Uint32Array(TEST_SLICES).fill(3),
    row: Uint16Array.from({ length: TEST_SLICES }, (_, at) => Math.floor(at / perRow)),
    colour: new Uint8Array(4 * TEST_SLICES).fill(255),
  };
}

/** The shortest of some frames in ms, each until its pixels are there; the first one compiles and does not count. */
function frameMs(canvas: HTMLCanvasElement, renderer: Renderer): number {
  const gl = canvas.getContext("webgl2");
  const handle = renderer.upload(testSlices());
  const pixel = new Uint8Array(4);
  let shortest = Number.POSITIVE_INFINITY;
  for (let at = 0; at <= MEASURED_FRAMES; at++) {
    const start = performance.now();
    renderer.start(WIDTH_PX, TEST_ROWS * ROW_PX, 1);
    renderer.draw(handle, { begin: 0, psPerPixel: 1, topPx: 0, rowHeightPx: ROW_PX, rowCount: TEST_ROWS });
    gl?.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel);
    if (at) shortest = Math.min(shortest, performance.now() - start);
  }
  return shortest;
}

let webglIsFast: boolean | undefined;

function isWebglFast(): boolean {
  const canvas = document.createElement("canvas");
  const renderer = createWebglRenderer(canvas);
  if (!renderer) return false;
  const ms = frameMs(canvas, renderer);
  renderer.dispose();
  return ms <= FAST_MS;
}

/** WebGL where a graphics card draws it, a plain canvas elsewhere. */
export function createRenderer(canvas: HTMLCanvasElement): Renderer {
  webglIsFast ??= isWebglFast();
  return (webglIsFast && createWebglRenderer(canvas)) || createCanvas2dRenderer(canvas);
}
