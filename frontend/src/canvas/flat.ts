/** Slices on a plain canvas, where there is no WebGL. */

import { GAP, type Handle, type Renderer, SEPARATE_FROM, type Slices } from "./renderer";

/** Styles by colour: making the text for each slice would cost more than drawing it. */
const styles = new Map<number, string>();

function style(red: number, green: number, blue: number, opacity: number): string {
  const key = red * 0x1000000 + green * 0x10000 + blue * 0x100 + opacity;
  let found = styles.get(key);
  if (found === undefined) {
    found = `rgba(${red},${green},${blue},${opacity / 255})`;
    styles.set(key, found);
  }
  return found;
}

class Lane implements Handle {
  constructor(readonly slices: Slices) {}

  recolour(): void {} // Colours are read anew for each frame.

  drop(): void {}
}

export function createFlat(canvas: HTMLCanvasElement): Renderer {
  const context = canvas.getContext("2d") as CanvasRenderingContext2D;
  let width = 0;
  let saved = false;
  const unclip = () => {
    if (saved) context.restore();
    saved = false;
  };
  return {
    kind: "2d",
    upload: (slices) => new Lane(slices),
    start: (across, tall, ratio) => {
      unclip();
      width = across;
      canvas.width = Math.round(across * ratio); // Clears it, too.
      canvas.height = Math.round(tall * ratio);
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
    },
    clip: (top, bottom) => {
      unclip();
      context.save();
      saved = true;
      context.beginPath();
      context.rect(0, top, width, bottom - top);
      context.clip();
    },
    draw: (handle, spot) => {
      const { slices } = handle as Lane;
      const { begin, width: length, row, colour, count, origin, unit } = slices;
      const perUnit = unit / spot.perPixel;
      const shift = (origin - spot.begin) / spot.perPixel;
      let last = "";
      for (let i = 0; i < count; i++) {
        if ((row[i] as number) >= spot.rows) continue;
        const from = shift + (begin[i] as number) * perUnit;
        if (from > width) continue;
        const wide = (length[i] as number) * perUnit;
        if (from + wide < 0) continue;
        const at = 4 * i;
        const [red, green, blue] = [colour[at] as number, colour[at + 1] as number, colour[at + 2] as number];
        const opacity = colour[at + 3] as number;
        const shade = style(red, green, blue, opacity);
        if (shade !== last) context.fillStyle = shade;
        last = shade;
        const left = Math.max(from, -2);
        const shown = Math.min(from + wide, width + 2) - left;
        const drawn = wide > SEPARATE_FROM && opacity === 255 ? shown - 1 : Math.max(shown, 1);
        context.fillRect(left, spot.top + (row[i] as number) * spot.rowHeight, drawn, spot.rowHeight - GAP);
      }
    },
    dispose: unclip,
  };
}
