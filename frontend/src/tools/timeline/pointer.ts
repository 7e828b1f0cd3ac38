/** Pointer and wheel on the canvas: what a click, a drag and a turn of the wheel do in each mode. */

import { t } from "../../base/messages";
import { lengthLabel } from "../../canvas/ticks";
import { panView, toTime, viewSpan, zoomView } from "../../canvas/viewport";
import type { Engine } from "./engine";
import { minimapWindow } from "./overview";
import { AXIS_PX, HEAD_PX, MINIMAP_PX } from "./scene";

/** A pointer that moves less is a click; this near to a border of the minimap's window it takes hold of it. */
const CLICK_PX = 5;
const EDGE_PX = 6;

type Gesture = "minimap" | "minimap-begin" | "minimap-end" | "pan" | "area" | "timing" | "zoom";

interface PointerPress {
  readonly gesture: Gesture;
  readonly x: number;
  readonly y: number;
  lastX: number;
  lastY: number;
  moved: boolean;
}

export function listenToPointer(engine: Engine, element: HTMLElement): () => void {
  const { scene } = engine;
  const { state } = scene;
  let press: PointerPress | null = null;

  const positionOf = (event: MouseEvent) => {
    const box = element.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };

  const gestureAt = (x: number, y: number, shift: boolean): Gesture => {
    if (y < MINIMAP_PX) {
      const { from, to } = minimapWindow(scene);
      if (Math.abs(x - from) < EDGE_PX) return "minimap-begin";
      if (Math.abs(x - to) < EDGE_PX) return "minimap-end";
      return "minimap";
    }
    if (y < HEAD_PX) return y < MINIMAP_PX + AXIS_PX ? "timing" : "pan";
    if (shift) return state.mode.peek() === "timing" ? "timing" : "area";
    const mode = state.mode.peek();
    return mode === "select" ? "area" : mode;
  };

  const onDown = (event: PointerEvent) => {
    if (event.button !== 0) return;
    const { x, y } = positionOf(event);
    engine.stopGliding();
    press = { gesture: gestureAt(x, y, event.shiftKey), x, y, lastX: x, lastY: y, moved: false };
    element.setPointerCapture(event.pointerId);
    element.focus({ preventScroll: true });
    if (press.gesture === "minimap") {
      const { from, to } = minimapWindow(scene);
      if (x < from || x > to) centreView(x);
    }
  };

  const centreView = (x: number) => {
    const time = toTime(scene.capture, scene.size.width, x);
    const half = viewSpan(scene.view) / 2;
    scene.view = { begin: time - half, end: time + half };
  };

  const onMove = (event: PointerEvent) => {
    const { x, y } = positionOf(event);
    if (!press) {
      showHover(x, y);
      return;
    }
    press.moved ||= Math.abs(x - press.x) > CLICK_PX || Math.abs(y - press.y) > CLICK_PX;
    if (press.moved) dragTo(press, x, y);
    [press.lastX, press.lastY] = [x, y];
  };

  const dragTo = (current: PointerPress, x: number, y: number) => {
    const time = toTime(scene.capture, scene.size.width, x);
    if (current.gesture === "pan") {
      scene.view = panView(scene.view, -(x - current.lastX) * scene.psPerPixel);
      scene.scroll -= y - current.lastY;
    } else if (current.gesture === "minimap") {
      scene.view = panView(scene.view, ((x - current.lastX) / scene.size.width) * viewSpan(scene.capture));
    } else if (current.gesture === "minimap-begin") {
      scene.view = { begin: Math.min(time, scene.view.end - 1000), end: scene.view.end };
    } else if (current.gesture === "minimap-end") {
      scene.view = { begin: scene.view.begin, end: Math.max(time, scene.view.begin + 1000) };
    } else if (current.gesture === "zoom") {
      scene.view = zoomView(scene.view, 1.01 ** (y - current.lastY), toTime(scene.view, scene.size.width, current.x));
    } else {
      engine.drag = { kind: current.gesture, x0: current.x, y0: current.y, x1: x, y1: y };
      engine.requestFrame();
    }
    state.hover.value = null;
  };

  const onUp = (event: PointerEvent) => {
    if (!press) return;
    const { x, y } = positionOf(event);
    const ended = press;
    press = null;
    engine.drag = null;
    engine.requestFrame();
    if (!ended.moved) {
      if (y >= HEAD_PX) selectAt(x, y);
      return;
    }
    const [begin, end] = [Math.min(ended.x, x), Math.max(ended.x, x)].map((px) =>
      toTime(scene.view, scene.size.width, px),
    );
    if (ended.gesture === "area")
      selectArea(begin as number, end as number, Math.min(ended.y, y), Math.max(ended.y, y));
    if (ended.gesture === "timing") {
      state.marks.value = [...state.marks.peek(), { begin: begin as number, end: end as number, name: "" }];
    }
  };

  const selectAt = (x: number, y: number) => {
    const found = engine.eventAt(x, y);
    state.event.value = found?.event ?? "";
    state.area.value = null;
    if (!found) void explainGap(x, y);
  };

  const explainGap = async (x: number, y: number) => {
    try {
      const gap = await engine.gapEventAt(x, y);
      if (!state.event.peek()) state.event.value = gap;
    } catch (error) {
      state.problem.value = error;
    }
  };

  const selectArea = (begin: number, end: number, low: number, high: number) => {
    const lanes: string[] = [];
    for (const [band, top] of scene.visibleBands()) {
      if (!band.lane || top + band.height <= low || top >= high) continue;
      const first = Math.max(0, Math.floor((low - top) / band.rowHeight));
      const last = Math.min(band.rows, Math.ceil((high - top) / band.rowHeight));
      if (last > first) lanes.push(`${band.lane.key}:${first}-${last}`);
    }
    state.area.value = lanes.length ? { begin, end, lanes } : null;
  };

  const showHover = (x: number, y: number) => {
    const found = y >= HEAD_PX ? engine.eventAt(x, y) : null;
    engine.hovered = found;
    const value = y >= HEAD_PX && !found ? engine.counterTextAt(x, y) : "";
    const many =
      found && found.mergedCount > 1
        ? [t("{count} events here; the name is the longest's. Zoom in to separate them.", { count: found.mergedCount })]
        : [];
    const length = found && found.mergedCount === 1 ? [lengthLabel(found.end - found.begin)] : [];
    state.hover.value = found
      ? { x, y, lines: [found.name, ...length, ...many] }
      : value
        ? { x, y, lines: [value] }
        : null;
    element.style.cursor = cursorAt(x, y);
    engine.requestFrame();
  };

  const cursorAt = (x: number, y: number): string => {
    const gesture = gestureAt(x, y, false);
    if (gesture === "minimap-begin" || gesture === "minimap-end") return "ew-resize";
    return { minimap: "grab", pan: "default", area: "crosshair", timing: "col-resize", zoom: "ns-resize" }[gesture];
  };

  const onLeave = () => {
    engine.hovered = null;
    state.hover.value = null;
    engine.requestFrame();
  };

  const onWheel = (event: WheelEvent) => {
    event.preventDefault();
    engine.stopGliding();
    const { x, y } = positionOf(event);
    const lines = event.deltaMode === 1 ? 16 : 1;
    const [across, down] = [event.deltaX * lines, event.deltaY * lines];
    if (event.ctrlKey || event.metaKey || state.mode.peek() === "zoom" || y < HEAD_PX) {
      const at = toTime(scene.view, scene.size.width, x);
      scene.view = zoomView(scene.view, 1.0025 ** Math.max(-400, Math.min(400, down)), at);
    } else if (event.shiftKey || Math.abs(across) > Math.abs(down)) {
      scene.view = panView(scene.view, (across || down) * scene.psPerPixel);
    } else {
      scene.scroll += down;
    }
    state.hover.value = null;
  };

  const onDouble = (event: MouseEvent) => {
    const { x, y } = positionOf(event);
    const found = y >= HEAD_PX && engine.eventAt(x, y);
    if (found) engine.zoomTo(found);
  };

  const options = { passive: false };
  element.addEventListener("pointerdown", onDown);
  element.addEventListener("pointermove", onMove);
  element.addEventListener("pointerup", onUp);
  element.addEventListener("pointerleave", onLeave);
  element.addEventListener("wheel", onWheel, options);
  element.addEventListener("dblclick", onDouble);
  return () => {
    element.removeEventListener("pointerdown", onDown);
    element.removeEventListener("pointermove", onMove);
    element.removeEventListener("pointerup", onUp);
    element.removeEventListener("pointerleave", onLeave);
    element.removeEventListener("wheel", onWheel);
    element.removeEventListener("dblclick", onDouble);
  };
}
