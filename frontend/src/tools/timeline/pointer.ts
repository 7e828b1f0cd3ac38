/** Pointer and wheel on the canvas: what a click, a drag and a turn of the wheel do in each mode. */

import { clamp } from "../../base/clamp";
import { t } from "../../base/messages";
import { lengthLabel } from "../../canvas/timeaxis";
import { NARROWEST_VIEW_PS, panView, toTime, viewSpan, zoomView } from "../../canvas/viewport";
import type { Engine } from "./engine";
import { minimapWindow } from "./minimap";
import { AXIS_PX, HEAD_PX, MINIMAP_PX } from "./scene";

/** A pointer that moves less is a click. */
const CLICK_PX = 5;
/** This near to a border of the minimap's window the pointer takes hold of it. */
const EDGE_PX = 6;
/** How many pixels a wheel means that counts in lines. */
const LINE_PX = 16;
/** How much a pixel of dragging, or of the wheel, zooms. */
const DRAG_ZOOM = 1.01;
const WHEEL_ZOOM = 1.0025;
/** One turn of the wheel zooms by no more pixels than these. */
const MOST_WHEEL_PX = 400;

/** What a drag does. */
type Gesture = "minimap" | "minimap-begin" | "minimap-end" | "pan" | "box" | "timing" | "zoom";

const CURSORS: Readonly<Record<Gesture, string>> = {
  minimap: "grab",
  "minimap-begin": "ew-resize",
  "minimap-end": "ew-resize",
  pan: "default",
  box: "crosshair",
  timing: "col-resize",
  zoom: "ns-resize",
};

/** A place on the canvas, px. */
interface Position {
  readonly x: number;
  readonly y: number;
}

/** A pointer that is down: where it went down, and where it was last. */
interface PointerPress {
  readonly gesture: Gesture;
  readonly start: Position;
  last: Position;
  /** Whether it moved so far that it is no click. */
  hasMoved: boolean;
}

class PointerControl {
  private press: PointerPress | null = null;

  constructor(
    private readonly engine: Engine,
    private readonly element: HTMLElement,
  ) {}

  private get scene() {
    return this.engine.scene;
  }

  private positionOf(event: MouseEvent): Position {
    const box = this.element.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }

  /** The time (ps) at which a place of the lanes stands. */
  private timeAt(x: number): number {
    return toTime(this.scene.view, this.scene.size.width, x);
  }

  private gestureAt({ x, y }: Position, isShift: boolean): Gesture {
    if (y < MINIMAP_PX) {
      const { from, to } = minimapWindow(this.scene);
      if (Math.abs(x - from) < EDGE_PX) return "minimap-begin";
      if (Math.abs(x - to) < EDGE_PX) return "minimap-end";
      return "minimap";
    }
    if (y < HEAD_PX) return y < MINIMAP_PX + AXIS_PX ? "timing" : "pan";
    const mode = this.scene.state.mode.peek();
    if (isShift) return mode === "timing" ? "timing" : "box";
    return mode === "select" ? "box" : mode;
  }

  readonly onDown = (event: PointerEvent) => {
    if (event.button !== 0) return;
    const start = this.positionOf(event);
    this.engine.stopGliding();
    this.press = { gesture: this.gestureAt(start, event.shiftKey), start, last: start, hasMoved: false };
    this.element.setPointerCapture(event.pointerId);
    this.element.focus({ preventScroll: true });
    if (this.press.gesture === "minimap") this.centreOn(start.x);
  };

  /** Moves the window to where the minimap was pressed, unless it is there. */
  private centreOn(x: number): void {
    const { scene } = this;
    const { from, to } = minimapWindow(scene);
    if (x >= from && x <= to) return;
    const time = toTime(scene.capture, scene.size.width, x);
    const half = viewSpan(scene.view) / 2;
    scene.view = { begin: time - half, end: time + half };
  }

  readonly onMove = (event: PointerEvent) => {
    const { press } = this;
    const position = this.positionOf(event);
    if (!press) {
      this.showHover(position);
      return;
    }
    const { x, y } = press.start;
    press.hasMoved ||= Math.abs(position.x - x) > CLICK_PX || Math.abs(position.y - y) > CLICK_PX;
    if (press.hasMoved) this.dragTo(press, position);
    press.last = position;
  };

  private dragTo({ gesture, start, last }: PointerPress, { x, y }: Position): void {
    const { engine, scene } = this;
    const minimapTime = toTime(scene.capture, scene.size.width, x);
    const { begin, end } = scene.view;
    switch (gesture) {
      case "pan":
        scene.view = panView(scene.view, -(x - last.x) * scene.psPerPixel);
        scene.scroll -= y - last.y;
        break;
      case "minimap":
        scene.view = panView(scene.view, ((x - last.x) / scene.size.width) * viewSpan(scene.capture));
        break;
      case "minimap-begin":
        scene.view = { begin: Math.min(minimapTime, end - NARROWEST_VIEW_PS), end };
        break;
      case "minimap-end":
        scene.view = { begin, end: Math.max(minimapTime, begin + NARROWEST_VIEW_PS) };
        break;
      case "zoom":
        scene.view = zoomView(scene.view, DRAG_ZOOM ** (y - last.y), this.timeAt(start.x));
        break;
      case "box":
      case "timing":
        engine.drag = { kind: gesture, x0: start.x, y0: start.y, x1: x, y1: y };
        engine.requestFrame();
    }
    scene.state.hover.value = null;
  }

  readonly onUp = (event: PointerEvent) => {
    const { engine, press } = this;
    if (!press) return;
    const position = this.positionOf(event);
    this.press = null;
    engine.drag = null;
    engine.requestFrame();
    if (press.hasMoved) this.endDrag(press, position);
    else if (position.y >= HEAD_PX) this.selectAt(position);
  };

  /** The browser took the pointer away, as for scrolling by touch: nothing was chosen. */
  readonly onCancel = () => {
    this.press = null;
    this.engine.drag = null;
    this.engine.requestFrame();
  };

  private endDrag({ gesture, start }: PointerPress, { x, y }: Position): void {
    const { state } = this.scene;
    const begin = this.timeAt(Math.min(start.x, x));
    const end = this.timeAt(Math.max(start.x, x));
    if (gesture === "box") {
      const lanes = this.laneRowsBetween(Math.min(start.y, y), Math.max(start.y, y));
      state.box.value = lanes.length ? { begin, end, lanes } : null;
    } else if (gesture === "timing") {
      state.marks.value = [...state.marks.peek(), { begin, end, name: "" }];
    }
  }

  /** Rows of lanes between two heights, `key:first-last` as the routes take them. */
  private laneRowsBetween(upperY: number, lowerY: number): string[] {
    const lanes: string[] = [];
    for (const [band, top] of this.scene.visibleBands()) {
      if (!band.lane || top + band.height <= upperY || top >= lowerY) continue;
      const first = Math.max(0, Math.floor((upperY - top) / band.rowHeight));
      const last = Math.min(band.rows, Math.ceil((lowerY - top) / band.rowHeight));
      if (last > first) lanes.push(`${band.lane.key}:${first}-${last}`);
    }
    return lanes;
  }

  private selectAt({ x, y }: Position): void {
    const { state } = this.scene;
    const target = this.engine.eventAt(x, y);
    state.event.value = target?.event ?? "";
    state.box.value = null;
    if (!target) void this.explainGap(x, y);
  }

  /** Selects why a device is idle where nothing of it is drawn. */
  private async explainGap(x: number, y: number): Promise<void> {
    const { state } = this.scene;
    try {
      const gap = await this.engine.gapEventAt(x, y);
      if (!state.event.peek()) state.event.value = gap;
    } catch (error) {
      state.problem.value = error;
    }
  }

  private showHover(position: Position): void {
    const { x, y } = position;
    const { engine } = this;
    const isOverLanes = y >= HEAD_PX;
    const target = isOverLanes ? engine.eventAt(x, y) : null;
    engine.hovered = target;
    const lines = isOverLanes ? this.hoverLines(target, position) : [];
    this.scene.state.hover.value = lines.length ? { x, y, lines } : null;
    this.element.style.cursor = CURSORS[this.gestureAt(position, false)];
    engine.requestFrame();
  }

  /** What the hint says at a place of the lanes; empty where there is nothing. */
  private hoverLines(target: ReturnType<Engine["eventAt"]>, { x, y }: Position): string[] {
    if (!target) return [this.engine.counterTextAt(x, y)].filter(Boolean);
    const { name, begin, end, mergedCount } = target;
    if (mergedCount === 1) return [name, lengthLabel(end - begin)];
    return [
      name,
      t("{count} events here; the name is the longest's. Zoom in to separate them.", { count: mergedCount }),
    ];
  }

  readonly onLeave = () => {
    this.engine.hovered = null;
    this.scene.state.hover.value = null;
    this.engine.requestFrame();
  };

  readonly onWheel = (event: WheelEvent) => {
    event.preventDefault();
    const { engine, scene } = this;
    engine.stopGliding();
    const { x, y } = this.positionOf(event);
    const unitPx = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? LINE_PX : 1;
    const acrossPx = event.deltaX * unitPx;
    const downPx = event.deltaY * unitPx;
    const zooms = event.ctrlKey || event.metaKey || scene.state.mode.peek() === "zoom" || y < HEAD_PX;
    if (zooms) {
      const zoomPx = clamp(downPx, -MOST_WHEEL_PX, MOST_WHEEL_PX);
      scene.view = zoomView(scene.view, WHEEL_ZOOM ** zoomPx, this.timeAt(x));
    } else if (event.shiftKey || Math.abs(acrossPx) > Math.abs(downPx)) {
      scene.view = panView(scene.view, (acrossPx || downPx) * scene.psPerPixel);
    } else {
      scene.scroll += downPx;
    }
    scene.state.hover.value = null;
  };

  readonly onDouble = (event: MouseEvent) => {
    const { x, y } = this.positionOf(event);
    const target = y >= HEAD_PX && this.engine.eventAt(x, y);
    if (target) this.engine.zoomTo(target);
  };
}

/** Lets the pointer move, zoom and select until the returned function is called. */
export function listenToPointer(engine: Engine, element: HTMLElement): () => void {
  const control = new PointerControl(engine, element);
  const stopped = new AbortController();
  const { signal } = stopped;
  element.addEventListener("pointerdown", control.onDown, { signal });
  element.addEventListener("pointermove", control.onMove, { signal });
  element.addEventListener("pointerup", control.onUp, { signal });
  element.addEventListener("pointercancel", control.onCancel, { signal });
  element.addEventListener("pointerleave", control.onLeave, { signal });
  element.addEventListener("wheel", control.onWheel, { signal, passive: false });
  element.addEventListener("dblclick", control.onDouble, { signal });
  return () => stopped.abort();
}
