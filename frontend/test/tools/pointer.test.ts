import { expect, test } from "vitest";
import type { Engine } from "../../src/tools/timeline/engine";
import { listenToPointer } from "../../src/tools/timeline/pointer";
import { HEAD_PX } from "../../src/tools/timeline/scene";

const pointer = (type: string, x: number) =>
  Object.assign(new Event(type), { button: 0, pointerId: 1, shiftKey: true, clientX: x, clientY: HEAD_PX + 10 });

function timeline() {
  const signal = <T>(value: T) => ({ value, peek: () => value });
  const state = { mode: signal("pan"), hover: signal(null), box: signal(null), marks: signal([]), event: signal("") };
  const window = { begin: 0, end: 100 };
  const scene = { view: window, capture: window, size: { width: 100 }, psPerPixel: 1, scroll: 0, state };
  const engine = {
    scene,
    drag: null as unknown,
    hovered: null as unknown,
    stopGliding() {},
    requestFrame() {},
    eventAt: () => null,
    counterTextAt: () => "",
  };
  const element = Object.assign(new EventTarget(), {
    style: {},
    getBoundingClientRect: () => ({ left: 0, top: 0 }),
    setPointerCapture() {},
    focus() {},
  });
  listenToPointer(engine as unknown as Engine, element as unknown as HTMLElement);
  return { engine, element, state };
}

test("a drag that the browser takes away ends, and chooses nothing", () => {
  const { engine, element, state } = timeline();
  element.dispatchEvent(pointer("pointerdown", 10));
  element.dispatchEvent(pointer("pointermove", 60));
  expect(engine.drag).toMatchObject({ kind: "box", x0: 10, x1: 60 });
  element.dispatchEvent(pointer("pointercancel", 60));
  expect(engine.drag).toBeNull();
  element.dispatchEvent(pointer("pointermove", 90));
  expect(engine.drag).toBeNull();
  expect(state.box.value).toBeNull();
});
