/** Pointer and wheel on the canvas: what a click, a drag and a turn of the wheel do in each mode. */

import { t } from "../../base/messages";
import { lengthLabel } from "../../canvas/ticks";
import { panView, toTime, viewSpan, zoomView } from "../../canvas/viewport";
import type { Engine } from "./engine";
import { windowOn } from "./panels";
import { AXIS, HEAD, MINIMAP } from "./scene";

const CLICK = 5;
const EDGE = 6;

type Gesture = "minimap" | "minimap-begin" | "minimap-end" | "pan" | "area" | "timing" | "zoom";

interface Press {
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
  let press: Press | null = null;

  const place = (event: MouseEvent) => {
    const box = element.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };

  const gestureAt = (x: number, y: number, shift: boolean): Gesture => {
    if (y < MINIMAP) {
      const { from, to } = windowOn(scene);
      if (Math.abs(x - from) < EDGE) return "minimap-begin";
      if (Math.abs(x - to) < EDGE) return "minimap-end";
      return "minimap";
    }
    if (y < HEAD) return y < MINIMAP + AXIS ? "timing" : "pan";
    if (shift) return state.mode.peek() === "timing" ? "timing" : "area";
    const mode = state.mode.peek();
    return mode === "select" ? "area" : mode;
  };

  const onDown = (event: PointerEvent) => {
    if (event.button !== 0) return;
    const { x, y } = place(event);
    engine.stopGliding();
    press = { gesture: gestureAt(x, y, event.shiftKey), x, y, lastX: x, lastY: y, moved: false };
    element.setPointerCapture(event.pointerId);
    element.focus({ preventScroll: true });
    if (press.gesture === "minimap") {
      const { from, to } = windowOn(scene);
      if (x < from || x > to) centre(x);
    }
  };

  const centre = (x: number) => {
    const time = toTime(scene.whole, scene.size.width, x);
    const half = viewSpan(scene.view) / 2;
    scene.view = { begin: time - half, end: time + half };
  };

  const onMove = (event: PointerEvent) => {
    const { x, y } = place(event);
    if (!press) {
      hover(x, y);
      return;
    }
    press.moved ||= Math.abs(x - press.x) > CLICK || Math.abs(y - press.y) > CLICK;
    if (press.moved) dragTo(press, x, y);
    [press.lastX, press.lastY] = [x, y];
  };

  const dragTo = (current: Press, x: number, y: number) => {
    const time = toTime(scene.whole, scene.size.width, x);
    if (current.gesture === "pan") {
      scene.view = panView(scene.view, -(x - current.lastX) * scene.perPixel);
      scene.scroll -= y - current.lastY;
    } else if (current.gesture === "minimap") {
      scene.view = panView(scene.view, ((x - current.lastX) / scene.size.width) * viewSpan(scene.whole));
    } else if (current.gesture === "minimap-begin") {
      scene.view = { begin: Math.min(time, scene.view.end - 1000), end: scene.view.end };
    } else if (current.gesture === "minimap-end") {
      scene.view = { begin: scene.view.begin, end: Math.max(time, scene.view.begin + 1000) };
    } else if (current.gesture === "zoom") {
      scene.view = zoomView(scene.view, 1.01 ** (y - current.lastY), toTime(scene.view, scene.size.width, current.x));
    } else {
      engine.drag = { kind: current.gesture, x0: current.x, y0: current.y, x1: x, y1: y };
      engine.invalidate();
    }
    state.hover.value = null;
  };

  const onUp = (event: PointerEvent) => {
    if (!press) return;
    const { x, y } = place(event);
    const laneSlices = press;
    press = null;
    engine.drag = null;
    engine.invalidate();
    if (!laneSlices.moved) {
      if (y >= HEAD) click(x, y);
      return;
    }
    const [begin, end] = [Math.min(laneSlices.x, x), Math.max(laneSlices.x, x)].map((px) =>
      toTime(scene.view, scene.size.width, px),
    );
    if (laneSlices.gesture === "area")
      selectArea(begin as number, end as number, Math.min(laneSlices.y, y), Math.max(laneSlices.y, y));
    if (laneSlices.gesture === "timing") {
      state.marks.value = [...state.marks.peek(), { begin: begin as number, end: end as number, name: "" }];
    }
  };

  const click = (x: number, y: number) => {
    const found = engine.at(x, y);
    state.event.value = found?.event ?? "";
    state.area.value = null;
    if (!found) void explainGap(x, y);
  };

  const explainGap = async (x: number, y: number) => {
    try {
      const gap = await engine.gapAt(x, y);
      if (!state.event.peek()) state.event.value = gap;
    } catch (error) {
      state.problem.value = error;
    }
  };

  const selectArea = (begin: number, end: number, low: number, high: number) => {
    const lanes: string[] = [];
    for (const [band, top] of scene.shown()) {
      if (!band.lane || top + band.height <= low || top >= high) continue;
      const first = Math.max(0, Math.floor((low - top) / band.rowHeight));
      const last = Math.min(band.rows, Math.ceil((high - top) / band.rowHeight));
      if (last > first) lanes.push(`${band.lane.key}:${first}-${last}`);
    }
    state.area.value = lanes.length ? { begin, end, lanes } : null;
  };

  const hover = (x: number, y: number) => {
    const found = y >= HEAD ? engine.at(x, y) : null;
    engine.hovered = found;
    const value = y >= HEAD && !found ? engine.valueAt(x, y) : "";
    const many =
      found && found.many > 1
        ? [t("{count} events here; the name is the longest's. Zoom in to separate them.", { count: found.many })]
        : [];
    const length = found && found.many === 1 ? [lengthLabel(found.end - found.begin)] : [];
    state.hover.value = found
      ? { x, y, lines: [found.name, ...length, ...many] }
      : value
        ? { x, y, lines: [value] }
        : null;
    element.style.cursor = cursorAt(x, y);
    engine.invalidate();
  };

  const cursorAt = (x: number, y: number): string => {
    const gesture = gestureAt(x, y, false);
    if (gesture === "minimap-begin" || gesture === "minimap-end") return "ew-resize";
    return { minimap: "grab", pan: "default", area: "crosshair", timing: "col-resize", zoom: "ns-resize" }[gesture];
  };

  const onLeave = () => {
    engine.hovered = null;
    state.hover.value = null;
    engine.invalidate();
  };

  const onWheel = (event: WheelEvent) => {
    event.preventDefault();
    engine.stopGliding();
    const { x, y } = place(event);
    const lines = event.deltaMode === 1 ? 16 : 1;
    const [across, down] = [event.deltaX * lines, event.deltaY * lines];
    if (event.ctrlKey || event.metaKey || state.mode.peek() === "zoom" || y < HEAD) {
      const at = toTime(scene.view, scene.size.width, x);
      scene.view = zoomView(scene.view, 1.0025 ** Math.max(-400, Math.min(400, down)), at);
    } else if (event.shiftKey || Math.abs(across) > Math.abs(down)) {
      scene.view = panView(scene.view, (across || down) * scene.perPixel);
    } else {
      scene.scroll += down;
    }
    state.hover.value = null;
  };

  const onDouble = (event: MouseEvent) => {
    const { x, y } = place(event);
    const found = y >= HEAD && engine.at(x, y);
    if (found) engine.focus(found);
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
