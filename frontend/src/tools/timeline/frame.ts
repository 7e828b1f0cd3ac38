/** What it takes to draw one frame. */

import type { Ink } from "./ink";
import type { Scene } from "./scene";

/** Share of the lanes that are busy, per column over the whole capture. */
export type Overview = Float32Array;

export interface Frame {
  readonly scene: Scene;
  readonly context: CanvasRenderingContext2D;
  readonly ink: Ink;
  readonly overview: Overview;
  /** A box or interval being dragged, in pixels. */
  readonly drag: { readonly kind: "area" | "timing" | "zoom"; x0: number; y0: number; x1: number; y1: number } | null;
  readonly hovered: {
    readonly lane: string;
    readonly row: number;
    readonly begin: number;
    readonly end: number;
  } | null;
}
