/** The timeline's keys: held ones move as long as they are held. */

import { t } from "../../base/messages";
import { MODES } from "../../base/timecodec";
import { panView, viewSpan, zoomView } from "../../canvas/viewport";
import type { KeyHelp } from "../../state/pagekeys";
import type { Engine } from "./engine";

export const KEYS: KeyHelp = [
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

const ZOOM_PER_S = 4.5;
const PAN_PER_S = 1.1;
const SCROLL_PER_S = 700;
const FASTER = 3;
/** A tap moves as far as a key that is held so long, s. */
const TAP_S = 0.05;
/** The letter after g belongs to the frame, which opens a tool with it. */
const PREFIX_MS = 1500;

export interface KeyActions {
  readonly focus: () => void;
  readonly mark: () => void;
  readonly drop: () => void;
  readonly first: () => void;
  readonly neighbour: (step: 1 | -1) => void;
  readonly along: (step: 1 | -1) => void;
  readonly pointerX: () => number;
}

const HELD = new Set(["w", "a", "s", "d", "arrowleft", "arrowright", "arrowup", "arrowdown"]);

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
}

export function listenToKeys(engine: Engine, actions: KeyActions): () => void {
  const { scene } = engine;
  const { state } = scene;
  const down = new Set<string>();
  let fast = false;
  let frame = 0;
  let last = 0;
  let prefixUntil = 0;

  const tick = (now: number) => {
    const passed = last ? Math.max(0, Math.min(50, now - last)) / 1000 : TAP_S;
    last = now;
    const by = passed * (fast ? FASTER : 1);
    const sideways = (+down.has("d") || +down.has("arrowright")) - (+down.has("a") || +down.has("arrowleft"));
    const inwards = +down.has("w") - +down.has("s");
    const upwards = +down.has("arrowdown") - +down.has("arrowup");
    if (sideways) scene.view = panView(scene.view, sideways * by * PAN_PER_S * viewSpan(scene.view));
    if (inwards) {
      const at = scene.view.begin + actions.pointerX() * scene.perPixel;
      scene.view = zoomView(scene.view, Math.exp(-inwards * by * ZOOM_PER_S), at);
    }
    if (upwards) scene.scroll += upwards * by * SCROLL_PER_S;
    frame = down.size ? requestAnimationFrame(tick) : 0;
    if (!frame) last = 0;
  };

  const press = (key: string): boolean => {
    const mode = MODES[Number(key) - 1];
    if (mode) state.mode.value = mode;
    else if (key === "f") actions.focus();
    else if (key === "m") actions.mark();
    else if (key === "0") engine.glideTo(scene.whole);
    else if (key === "escape") actions.drop();
    else if (key === "e") actions.first();
    else if (key === "]" || key === "[") actions.along(key === "]" ? 1 : -1);
    else if ((key === "arrowleft" || key === "arrowright") && state.event.peek()) {
      actions.neighbour(key === "arrowright" ? 1 : -1);
    } else if (HELD.has(key)) {
      engine.stopGliding();
      down.add(key);
      // At once: a tap may be over before the next frame.
      if (!frame) tick(performance.now());
    } else return false;
    return true;
  };

  const onDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    if (document.querySelector("dialog[open]")) return;
    const key = event.key.toLowerCase();
    const prefixed = Date.now() < prefixUntil;
    prefixUntil = key === "g" ? Date.now() + PREFIX_MS : 0;
    fast = event.shiftKey;
    if (prefixed || key === "g") return;
    if (press(key)) {
      event.preventDefault();
      event.stopPropagation();
    }
  };
  const onUp = (event: KeyboardEvent) => {
    fast = event.shiftKey;
    down.delete(event.key.toLowerCase());
  };
  const release = () => down.clear();
  window.addEventListener("keydown", onDown, true);
  window.addEventListener("keyup", onUp, true);
  window.addEventListener("blur", release);
  return () => {
    cancelAnimationFrame(frame);
    window.removeEventListener("keydown", onDown, true);
    window.removeEventListener("keyup", onUp, true);
    window.removeEventListener("blur", release);
  };
}
