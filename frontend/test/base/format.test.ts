import { describe, expect, it } from "vitest";
import {
  formatBytes,
  formatCount,
  formatFixed,
  formatMoment,
  formatNumber,
  formatPercent,
  formatScaled,
  formatTime,
  msPer,
  timeAgo,
  timeScale,
  withMoreDecimals,
} from "../../src/base/format";

const plain = (text: string) => text.replaceAll("\u202f", " ").replaceAll("\u2212", "-");

describe("numbers", () => {
  it.each([
    [0, 2, "0.00"],
    [1234, 0, "1,234"],
    [12345, 0, "12,345"],
    [1234567.891, 2, "1,234,567.89"],
    [-0.004, 2, "0.00"],
    [-1.5, 1, "-1.5"],
    [Number.NaN, 1, "–"],
  ])("%s with %s decimals", (value, decimals, text) => {
    expect(plain(formatFixed(value, decimals))).toBe(text);
  });

  it("keeps three significant digits and whole numbers whole", () => {
    expect([1.23456, 12.3456, 123.456, 7, 0.0123456].map(formatNumber)).toEqual(["1.23", "12.3", "123", "7", "0.0123"]);
    expect(plain(formatNumber(-1.5e-7))).toBe("-1.50e-7");
  });

  it("counts with grouped thousands", () => {
    expect(plain(formatCount(4300000))).toBe("4,300,000");
  });
});

describe("percent", () => {
  it("takes a fraction", () => {
    expect(plain(formatPercent(0.4123))).toBe("41.2 %");
    expect(plain(formatPercent(1))).toBe("100.0 %");
  });

  it("does not show a little as nothing", () => {
    expect(plain(formatPercent(0.0001))).toBe("< 0.1 %");
    expect(plain(formatPercent(0))).toBe("0.0 %");
  });
});

describe("times", () => {
  it.each([
    [1.434, "ms", "1.43 ms"],
    [0.0123, "ms", "12.3 µs"],
    [1234.5, "ms", "1.23 s"],
    [3, "us", "3.00 µs"],
    [0.5, "us", "500 ns"],
    [0, "ms", "0 ms"],
    [98, "s", "98.0 s"],
  ])("%s %s", (value, unit, text) => {
    expect(plain(formatTime(value, unit))).toBe(text);
  });

  it("share one scale in a column", () => {
    const scale = timeScale(12.5);
    expect([12.5, 0.3, 0].map((value) => formatScaled(value, scale))).toEqual(["12.5", "0.3", "0.0"]);
    expect(plain(formatScaled(0.001, scale))).toBe("< 0.1");
    expect(formatScaled(12.5, withMoreDecimals(scale))).toBe("12.50");
  });

  it("convert to milliseconds", () => {
    expect([1000, 2, 3].map((value, place) => value * msPer(["us", "s", "ms"][place] ?? ""))).toEqual([1, 2000, 3]);
  });
});

it("sizes files in powers of 1000", () => {
  expect([0, 999, 1000, 160349, 111e6, 2.5e9].map((size) => plain(formatBytes(size)))).toEqual([
    "0 B",
    "999 B",
    "1.0 kB",
    "160 kB",
    "111 MB",
    "2.5 GB",
  ]);
});

it("tells moments and how long ago they were", () => {
  expect(formatMoment(new Date(2026, 10, 20, 21, 38).getTime() / 1000)).toBe("2026-11-20 21:38");
  expect([0, 600, 7200, 864000].map((passed) => timeAgo(1e9 - passed, 1e9))).toEqual([
    "just now",
    "10 minutes ago",
    "2 hours ago",
    "10 days ago",
  ]);
});
