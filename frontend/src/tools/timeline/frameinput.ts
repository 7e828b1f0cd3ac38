/** What it takes to draw one frame. */

import type { CanvasColours } from "./canvascolours";
import type { Scene } from "./scene";

/** Share of the lanes that are busy, per column over the whole capture. */
export type Overview = Float32Array;

export interface FrameInput {
  readonly scene: Scene;
  readonly context: CanvasRenderingContext2D;
  readonly colours: CanvasColours;
  readonly overview: Overview;
  /** A box or interval being dragged, in pixels. */
  readonly drag: { readonly kind: "box" | "timing" | "zoom"; x0: number; y0: number; x1: number; y1: number } | null;
  readonly hovered: {
    readonly lane: string;
    readonly row: number;
    readonly begin: number;
    readonly end: number;
  } | null;
}
