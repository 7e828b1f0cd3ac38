import { describe, expect, it } from "vitest";
import { initialView } from "../../src/view/treegraph";

/** What a frame shows of a drawing at first: from and to, px of the drawing. */
function shown(width: number, room: number, main: number): [number, number] {
  const { view } = initialView(width, 100, room, main);
  return [(0 - view.x) / view.scale, (room - view.x) / view.scale];
}

describe("a graph at first", () => {
  it("is shown from end to end where ten boxes stand in a row", () => {
    const [from, to] = shown(1908, 1250, 1908);
    expect(from).toBeCloseTo(0);
    expect(to).toBeCloseTo(1908);
  });

  it("shows what lies on both sides of the main node where it does not fit", () => {
    expect(shown(4000, 1300, 1500)).toEqual([500, 2500]);
    expect(shown(4000, 1300, 100)).toEqual([0, 2000]);
  });

  it("shows the right end without a main node", () => {
    expect(shown(4000, 1300, 4000)).toEqual([2000, 4000]);
  });
});
