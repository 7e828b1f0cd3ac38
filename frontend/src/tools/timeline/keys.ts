/** The timeline's keys: held ones move as long as they are held. */

import { clamp } from "../../base/clamp";
import { t } from "../../base/messages";
import { MODES } from "../../base/timelinecodec";
import { panView, viewSpan, zoomView } from "../../canvas/viewport";
import { GROUP_KEY_MS, isTyping, type KeyHelp } from "../../state/pagekeys";
import type { Engine } from "./engine";
import {
  clearSelection,
  markSelection,
  selectFirstInView,
  selectGapOrArrowEnd,
  selectNeighbour,
  zoomToSelection,
} from "./navigation";

export const TIMELINE_KEYS: KeyHelp = [
  ["w / s", t("zoom in and out at the pointer; with Shift faster")],
  ["a / d", t("move to the left and right; with Shift faster")],
  ["e", t("select the first event in view")],
  ["← →", t("the event before or after the selected one; without one, move")],
  ["] [", t("the next and previous gap; of an event, along its arrows")],
  ["↑ ↓", t("scroll the lanes")],
  ["1 2 3 4", t("tools: select, pan, zoom, timing")],
  ["f", t("zoom to the selection")],
  ["m", t("mark the selection's time")],
  ["0", t("show the whole capture")],
  ["/", t("search; Enter and Shift+Enter go to the next and previous match")],
  ["Esc", t("drop the selection")],
  [t("wheel"), t("scroll the lanes; with Ctrl zoom, with Shift move")],
  [t("Shift and drag"), t("select a box in every tool")],
];

/** Per second that a key is held: natural logarithm of the zoom, widths of the window, px. */
const ZOOM_PER_S = 4.5;
const PAN_PER_S = 1.1;
const SCROLL_PX_PER_S = 700;
const SHIFT_FACTOR = 3;
/** A tap moves as far as a key that is held so long, s. */
const TAP_S = 0.05;

const MOVING_KEYS = new Set(["w", "a", "s", "d", "arrowleft", "arrowright", "arrowup", "arrowdown"]);

/** `pointerX` tells where the pointer is on the canvas, px; returns how to stop. */
export function listenToTimelineKeys(engine: Engine, pointerX: () => number): () => void {
  const { scene } = engine;
  const { state } = scene;
  const heldKeys = new Set<string>();
  let isShiftHeld = false;
  let frame = 0;
  let lastTickMs = 0;
  let prefixUntil = 0;

  const move = (now: number) => {
    const passedS = lastTickMs ? clamp(now - lastTickMs, 0, 50) / 1000 : TAP_S;
    lastTickMs = now;
    const effectiveS = passedS * (isShiftHeld ? SHIFT_FACTOR : 1);
    const sideways =
      (+heldKeys.has("d") || +heldKeys.has("arrowright")) - (+heldKeys.has("a") || +heldKeys.has("arrowleft"));
    const inwards = +heldKeys.has("w") - +heldKeys.has("s");
    const downwards = +heldKeys.has("arrowdown") - +heldKeys.has("arrowup");
    if (sideways) scene.view = panView(scene.view, sideways * effectiveS * PAN_PER_S * viewSpan(scene.view));
    if (inwards) {
      const at = scene.view.begin + pointerX() * scene.psPerPixel;
      scene.view = zoomView(scene.view, Math.exp(-inwards * effectiveS * ZOOM_PER_S), at);
    }
    if (downwards) scene.scroll += downwards * effectiveS * SCROLL_PX_PER_S;
    frame = heldKeys.size ? requestAnimationFrame(move) : 0;
    if (!frame) lastTickMs = 0;
  };

  const press = (key: string): boolean => {
    const mode = MODES[Number(key) - 1];
    if (mode) state.mode.value = mode;
    else if (key === "f") zoomToSelection(engine);
    else if (key === "m") markSelection(scene);
    else if (key === "0") engine.glideTo(scene.capture);
    else if (key === "escape") clearSelection(scene);
    else if (key === "e") selectFirstInView(engine);
    else if (key === "]" || key === "[") selectGapOrArrowEnd(engine, key === "]" ? 1 : -1);
    else if ((key === "arrowleft" || key === "arrowright") && state.event.peek()) {
      selectNeighbour(engine, key === "arrowright" ? 1 : -1);
    } else if (MOVING_KEYS.has(key)) {
      engine.stopGliding();
      heldKeys.add(key);
      // At once: a tap may be over before the next frame.
      if (!frame) move(performance.now());
    } else return false;
    return true;
  };

  const onDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    if (document.querySelector("dialog[open]")) return;
    const key = event.key.toLowerCase();
    const prefixed = Date.now() < prefixUntil;
    prefixUntil = key === "g" ? Date.now() + GROUP_KEY_MS : 0;
    isShiftHeld = event.shiftKey;
    // The letter after g opens a group of pages.
    if (prefixed || key === "g") return;
    if (press(key)) {
      event.preventDefault();
      event.stopPropagation();
    }
  };
  const onUp = (event: KeyboardEvent) => {
    isShiftHeld = event.shiftKey;
    heldKeys.delete(event.key.toLowerCase());
  };
  const release = () => heldKeys.clear();
  const listeners = new AbortController();
  const { signal } = listeners;
  window.addEventListener("keydown", onDown, { capture: true, signal });
  window.addEventListener("keyup", onUp, { capture: true, signal });
  window.addEventListener("blur", release, { signal });
  return () => {
    cancelAnimationFrame(frame);
    listeners.abort();
  };
}
