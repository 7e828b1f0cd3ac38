/** What draws slices; WebGL where there is it, a plain canvas otherwise. */

/** Slices of one lane as the server sends them: each begins at `originPs + begin * psPerUnit`. */
export interface Slices {
  readonly count: number;
  readonly originPs: number;
  readonly psPerUnit: number;
  readonly begin: Uint32Array;
  /** How long each lasts, in units. */
  readonly width: Uint32Array;
  readonly row: Uint16Array;
  /** Red, green, blue, opacity: four bytes per slice. */
  readonly colour: Uint8Array;
}

/** A lane's slices in the renderer's own form. */
export interface UploadedLane {
  /** Takes new colours over. */
  recolour(): void;
  dispose(): void;
}

/** Where a lane is drawn, in CSS pixels. */
export interface LanePosition {
  /** ps at the left edge, and ps per pixel. */
  readonly begin: number;
  readonly psPerPixel: number;
  readonly topPx: number;
  readonly rowHeightPx: number;
  /** Rows from here on are left out. */
  readonly rowCount: number;
}

export interface Renderer {
  readonly kind: "webgl" | "2d";
  upload(slices: Slices): UploadedLane;
  /** Starts a frame on a canvas of that size in CSS pixels, each `ratio` pixels of the screen. */
  start(widthPx: number, heightPx: number, ratio: number): void;
  /** Draws only between these heights (CSS pixels) from now on. */
  clip(topPx: number, bottomPx: number): void;
  draw(handle: UploadedLane, position: LanePosition): void;
  dispose(): void;
}

/** Space below a row's slices, and between slices that are wide enough to lose some. */
export const GAP_PX = 1;
export const SEPARATE_FROM_PX = 3;
