/** Slices on a plain canvas, where there is no WebGL. */

import { GAP_PX, type LanePosition, type Renderer, SEPARATE_FROM_PX, type Slices, type UploadedLane } from "./renderer";

/** Styles by colour: making the text for each slice would cost more than drawing it. */
const styleByColour = new Map<number, string>();

function fillStyle(red: number, green: number, blue: number, opacity: number): string {
  const key = red * 0x1000000 + green * 0x10000 + blue * 0x100 + opacity;
  let style = styleByColour.get(key);
  if (style === undefined) {
    style = `rgba(${red},${green},${blue},${opacity / 255})`;
    styleByColour.set(key, style);
  }
  return style;
}

class Canvas2dLane implements UploadedLane {
  constructor(readonly slices: Slices) {}

  recolour(): void {} // Colours are read anew for each frame.

  dispose(): void {}
}

class Canvas2dRenderer implements Renderer {
  readonly kind = "2d";
  private readonly context: CanvasRenderingContext2D;
  private widthPx = 0;
  private isClipped = false;

  constructor(private readonly canvas: HTMLCanvasElement) {
    this.context = canvas.getContext("2d") as CanvasRenderingContext2D;
  }

  upload(slices: Slices): UploadedLane {
    return new Canvas2dLane(slices);
  }

  start(widthPx: number, heightPx: number, ratio: number): void {
    this.unclip();
    this.widthPx = widthPx;
    this.canvas.width = Math.round(widthPx * ratio); // Clears it, too.
    this.canvas.height = Math.round(heightPx * ratio);
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
  }

  clip(topPx: number, bottomPx: number): void {
    const { context } = this;
    this.unclip();
    context.save();
    this.isClipped = true;
    context.beginPath();
    context.rect(0, topPx, this.widthPx, bottomPx - topPx);
    context.clip();
  }

  private unclip(): void {
    if (this.isClipped) this.context.restore();
    this.isClipped = false;
  }

  draw(handle: UploadedLane, position: LanePosition): void {
    const { context, widthPx } = this;
    const { begin, width, row, colour, count, originPs, psPerUnit } = (handle as Canvas2dLane).slices;
    const pixelsPerUnit = psPerUnit / position.psPerPixel;
    const originX = (originPs - position.begin) / position.psPerPixel;
    let lastStyle = "";
    for (let i = 0; i < count; i++) {
      if ((row[i] as number) >= position.rowCount) continue;
      const leftX = originX + (begin[i] as number) * pixelsPerUnit;
      if (leftX > widthPx) continue;
      const sliceWidth = (width[i] as number) * pixelsPerUnit;
      if (leftX + sliceWidth < 0) continue;
      const red = colour[4 * i] as number;
      const green = colour[4 * i + 1] as number;
      const blue = colour[4 * i + 2] as number;
      const opacity = colour[4 * i + 3] as number;
      const style = fillStyle(red, green, blue, opacity);
      if (style !== lastStyle) context.fillStyle = style;
      lastStyle = style;
      const visibleLeft = Math.max(leftX, -2);
      const visibleWidth = Math.min(leftX + sliceWidth, widthPx + 2) - visibleLeft;
      // Merged slices, which are pale, stand side by side.
      const isSeparate = sliceWidth > SEPARATE_FROM_PX && opacity === 255;
      const drawnWidth = isSeparate ? visibleWidth - 1 : Math.max(visibleWidth, 1);
      const top = position.topPx + (row[i] as number) * position.rowHeightPx;
      context.fillRect(visibleLeft, top, drawnWidth, position.rowHeightPx - GAP_PX);
    }
  }

  dispose(): void {
    this.unclip();
  }
}

export function createCanvas2dRenderer(canvas: HTMLCanvasElement): Renderer {
  return new Canvas2dRenderer(canvas);
}
