/** Slices on a plain canvas, where there is no WebGL. */

import { GAP_PX, type Renderer, SEPARATE_FROM_PX, type Slices, type UploadedLane } from "./renderer";

/** Styles by colour: making the text for each slice would cost more than drawing it. */
const styleByColour = new Map<number, string>();

function fillStyle(red: number, green: number, blue: number, opacity: number): string {
  const key = red * 0x1000000 + green * 0x10000 + blue * 0x100 + opacity;
  let found = styleByColour.get(key);
  if (found === undefined) {
    found = `rgba(${red},${green},${blue},${opacity / 255})`;
    styleByColour.set(key, found);
  }
  return found;
}

class FlatLane implements UploadedLane {
  constructor(readonly slices: Slices) {}

  recolour(): void {} // Colours are read anew for each frame.

  drop(): void {}
}

export function createFlatRenderer(canvas: HTMLCanvasElement): Renderer {
  const context = canvas.getContext("2d") as CanvasRenderingContext2D;
  let width = 0;
  let isClipped = false;
  const unclip = () => {
    if (isClipped) context.restore();
    isClipped = false;
  };
  return {
    kind: "2d",
    upload: (slices) => new FlatLane(slices),
    start: (canvasWidth, canvasHeight, ratio) => {
      unclip();
      width = canvasWidth;
      canvas.width = Math.round(canvasWidth * ratio); // Clears it, too.
      canvas.height = Math.round(canvasHeight * ratio);
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
    },
    clip: (top, bottom) => {
      unclip();
      context.save();
      isClipped = true;
      context.beginPath();
      context.rect(0, top, width, bottom - top);
      context.clip();
    },
    draw: (handle, spot) => {
      const { slices } = handle as FlatLane;
      const { begin, width: length, row, colour, count, originPs, psPerUnit } = slices;
      const perUnit = psPerUnit / spot.psPerPixel;
      const shift = (originPs - spot.begin) / spot.psPerPixel;
      let last = "";
      for (let i = 0; i < count; i++) {
        if ((row[i] as number) >= spot.rowCount) continue;
        const leftX = shift + (begin[i] as number) * perUnit;
        if (leftX > width) continue;
        const sliceWidth = (length[i] as number) * perUnit;
        if (leftX + sliceWidth < 0) continue;
        const colourIndex = 4 * i;
        const [red, green, blue] = [
          colour[colourIndex] as number,
          colour[colourIndex + 1] as number,
          colour[colourIndex + 2] as number,
        ];
        const opacity = colour[colourIndex + 3] as number;
        const shade = fillStyle(red, green, blue, opacity);
        if (shade !== last) context.fillStyle = shade;
        last = shade;
        const visibleLeft = Math.max(leftX, -2);
        const visibleWidth = Math.min(leftX + sliceWidth, width + 2) - visibleLeft;
        const drawnWidth =
          sliceWidth > SEPARATE_FROM_PX && opacity === 255 ? visibleWidth - 1 : Math.max(visibleWidth, 1);
        context.fillRect(
          visibleLeft,
          spot.topPx + (row[i] as number) * spot.rowHeightPx,
          drawnWidth,
          spot.rowHeightPx - GAP_PX,
        );
      }
    },
    dispose: unclip,
  };
}
