/** Cuts text to the room that a slice has, without measuring each one in each frame. */

import { cutEnd } from "../base/text";

const widths = new Map<string, number>();
/** Widths of texts in memory. */
const MOST_WIDTHS = 20_000;

function measure(context: CanvasRenderingContext2D, text: string): number {
  let width = widths.get(text);
  if (width === undefined) {
    if (widths.size > MOST_WIDTHS) widths.clear();
    width = context.measureText(text).width;
    widths.set(text, width);
  }
  return width;
}

/** The text, its begin with an ellipsis, or "" where not even three letters fit; one font only, ever. */
export function fitText(context: CanvasRenderingContext2D, text: string, roomPx: number): string {
  const width = measure(context, text);
  if (width <= roomPx) return text;
  const letters = Math.floor((text.length * (roomPx - 8)) / width);
  return letters < 3 ? "" : `${cutEnd(text, letters)}…`;
}
