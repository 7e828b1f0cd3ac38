import { describe, expect, it } from "vitest";
import { axisTicks, lengthLabel, tickLabel } from "../../src/canvas/timeaxis";
import {
  clampView,
  panView,
  toPixel,
  toTime,
  viewAround,
  viewBetween,
  viewSpan,
  zoomView,
} from "../../src/canvas/viewport";

const VIEW = { begin: 1000, end: 3000 };

describe("the viewport", () => {
  it("turns times into pixels and back", () => {
    expect(toPixel(VIEW, 500, 2000)).toBe(250);
    expect(toTime(VIEW, 500, toPixel(VIEW, 500, 1234))).toBeCloseTo(1234);
  });

  it("zooms around the point that is held", () => {
    const closer = zoomView(VIEW, 0.5, 1500);
    expect(closer).toEqual({ begin: 1250, end: 2250 });
    expect(toPixel(closer, 100, 1500)).toBe(toPixel(VIEW, 100, 1500));
  });

  it("stays near the capture and neither too narrow nor too wide", () => {
    expect(viewSpan(clampView({ begin: 0, end: 1 }, 1e9))).toBe(1000);
    expect(viewSpan(clampView({ begin: -1e12, end: 1e12 }, 1e9))).toBeCloseTo(1.2e9);
    const far = clampView(panView({ begin: 0, end: 1e8 }, 1e12), 1e9);
    expect(far.begin).toBeLessThan(1e9);
    expect(viewSpan(far)).toBeCloseTo(1e8);
    expect(clampView({ begin: 0, end: 1e9 }, 1e9)).toEqual({ begin: 0, end: 1e9 });
  });

  it("glides from one window exactly to another", () => {
    const to = { begin: 5000, end: 5100 };
    expect(viewBetween(VIEW, to, 0)).toEqual(VIEW);
    expect(viewBetween(VIEW, to, 1).begin).toBeCloseTo(to.begin);
    expect(viewSpan(viewBetween(VIEW, to, 1))).toBeCloseTo(100);
    expect(viewBetween(VIEW, panView(VIEW, 100), 0.5).begin).toBeCloseTo(1050);
  });

  it("shows what surrounds an event, also one without a length", () => {
    expect(viewAround(100, 200, 2, 0)).toEqual({ begin: 50, end: 250 });
    expect(viewSpan(viewAround(100, 100, 2, 10))).toBe(10);
  });
});

describe("the axis", () => {
  it("puts ticks at round times, far enough apart", () => {
    const { stepPs, timesPs } = axisTicks({ begin: 0, end: 1e12 }, 1000);
    expect(stepPs).toBe(2e11);
    expect(timesPs).toEqual([0, 2e11, 4e11, 6e11, 8e11, 1e12]);
  });

  it("gives times as many digits as the step asks for", () => {
    expect(tickLabel(1.5e12, 1e11)).toBe("1.5 s");
    expect(tickLabel(1_234_500_000, 100_000)).toBe("1.2345 ms");
    expect(tickLabel(0, 1e6)).toBe("0 µs");
  });

  it("tells lengths in the unit that suits them", () => {
    expect([0, 1500, 57_344_000, 1.2346e12].map(lengthLabel)).toEqual(["0 ps", "1.5 ns", "57.34 µs", "1.235 s"]);
  });
});
