import { expect, it } from "vitest";
import { createCanvas2dRenderer } from "../../src/canvas/canvas2drenderer";

it("draws what is in view, at least a pixel wide, and leaves the rows out that are folded", () => {
  const drawn: number[][] = [];
  const context = new Proxy({} as Record<string, unknown>, {
    get: (_, name) => (name === "fillRect" ? (...box: number[]) => drawn.push(box) : () => {}),
    set: () => true,
  });
  const canvas = { getContext: () => context } as unknown as HTMLCanvasElement;
  const renderer = createCanvas2dRenderer(canvas);
  const handle = renderer.upload({
    count: 4,
    originPs: 1000,
    psPerUnit: 10,
    begin: Uint32Array.of(0, 10, 10, 900),
    width: Uint32Array.of(10, 0, 5, 5),
    row: Uint16Array.of(0, 0, 1, 0),
    colour: new Uint8Array(16).fill(255),
  });
  renderer.start(100, 50, 1);
  renderer.draw(handle, { begin: 1000, psPerPixel: 10, topPx: 5, rowHeightPx: 17, rowCount: 1 });
  expect(drawn).toEqual([
    [0, 5, 9, 16],
    [10, 5, 1, 16],
  ]);
});
