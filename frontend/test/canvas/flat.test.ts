import { expect, it } from "vitest";
import { createFlat } from "../../src/canvas/flat";

it("draws what is in view, at least a pixel wide, and leaves the rows out that are folded", () => {
  const drawn: number[][] = [];
  const context = new Proxy({} as Record<string, unknown>, {
    get: (_, name) => (name === "fillRect" ? (...box: number[]) => drawn.push(box) : () => {}),
    set: () => true,
  });
  const canvas = { getContext: () => context } as unknown as HTMLCanvasElement;
  const renderer = createFlat(canvas);
  const handle = renderer.upload({
    count: 4,
    origin: 1000,
    unit: 10,
    begin: Uint32Array.of(0, 10, 10, 900),
    width: Uint32Array.of(10, 0, 5, 5),
    row: Uint16Array.of(0, 0, 1, 0),
    colour: new Uint8Array(16).fill(255),
  });
  renderer.start(100, 50, 1);
  renderer.draw(handle, { begin: 1000, perPixel: 10, top: 5, rowHeight: 17, rows: 1 });
  expect(drawn).toEqual([
    [0, 5, 9, 16],
    [10, 5, 1, 16],
  ]);
});
