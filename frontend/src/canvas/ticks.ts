/** The time axis: where ticks stand and how times read there. */

import type { Viewport } from "./viewport";

const UNITS: readonly (readonly [number, string])[] = [
  [1e12, "s"],
  [1e9, "ms"],
  [1e6, "µs"],
  [1e3, "ns"],
  [1, "ps"],
];

export interface Ticks {
  readonly step: number;
  readonly times: readonly number[];
}

/** Round times, at least `least` pixels apart. */
export function ticks(view: Viewport, width: number, least = 110): Ticks {
  const raw = ((view.end - view.begin) * least) / Math.max(1, width);
  const power = 10 ** Math.floor(Math.log10(Math.max(raw, 1)));
  const step = ([1, 2, 5, 10].find((factor) => factor * power >= raw) ?? 10) * power;
  const first = Math.ceil(view.begin / step);
  const count = Math.max(0, Math.floor(view.end / step) - first + 1);
  return { step, times: Array.from({ length: count }, (_, place) => (first + place) * step) };
}

/** A tick's time with as many digits as the step needs, e.g. `12.5 ms`. */
export function tickLabel(time: number, step: number): string {
  const size = Math.max(Math.abs(time), step);
  const [per, unit] = UNITS.find(([factor]) => size >= factor) ?? [1, "ps"];
  const decimals = Math.max(0, Math.ceil(Math.log10(per / step) - 1e-9));
  return `${(time / per).toFixed(decimals)} ${unit}`;
}

/** A length of time with about four digits, e.g. `1.234 ms`. */
export function lengthLabel(length: number): string {
  const size = Math.abs(length);
  const [per, unit] = UNITS.find(([factor]) => size >= factor) ?? [1, "ps"];
  const value = length / per;
  const decimals = Math.max(0, 3 - Math.floor(Math.log10(Math.max(1, Math.abs(value)))));
  return `${Number(value.toFixed(decimals))} ${unit}`;
}
