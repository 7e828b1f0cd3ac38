/** What it takes to draw one frame. */

import type { CanvasColours } from "./canvascolours";
import type { Scene } from "./scene";

/** Share of the lanes that are busy, per column over the whole capture. */
export type Overview = Float32Array;

/** Between two corners, in pixels. */
export interface Rectangle {
  readonly x0: number;
  readonly y0: number;
  readonly x1: number;
  readonly y1: number;
}

export interface FrameInput {
  readonly scene: Scene;
  readonly context: CanvasRenderingContext2D;
  readonly colours: CanvasColours;
  readonly overview: Overview;
  /** A box or interval being dragged. */
  readonly drag: (Rectangle & { readonly kind: "box" | "timing" }) | null;
  readonly hovered: {
    readonly lane: string;
    readonly row: number;
    readonly begin: number;
    readonly end: number;
  } | null;
}
