/** The time axis: where ticks stand and how times read there. */

import type { Viewport } from "./viewport";

const PS_PER_UNIT: readonly (readonly [number, string])[] = [
  [1e12, "s"],
  [1e9, "ms"],
  [1e6, "µs"],
  [1e3, "ns"],
  [1, "ps"],
];

export interface AxisTicks {
  readonly stepPs: number;
  readonly timesPs: readonly number[];
}

/** Round times, at least `leastPx` pixels apart. */
export function axisTicks(view: Viewport, width: number, leastPx = 110): AxisTicks {
  const leastStep = ((view.end - view.begin) * leastPx) / Math.max(1, width);
  const power = 10 ** Math.floor(Math.log10(Math.max(leastStep, 1)));
  const stepPs = ([1, 2, 5, 10].find((factor) => factor * power >= leastStep) ?? 10) * power;
  const first = Math.ceil(view.begin / stepPs);
  const count = Math.max(0, Math.floor(view.end / stepPs) - first + 1);
  return { stepPs, timesPs: Array.from({ length: count }, (_, index) => (first + index) * stepPs) };
}

/** A tick's time with as many digits as the step needs, e.g. `12.5 ms`. */
export function tickLabel(timePs: number, stepPs: number): string {
  const size = Math.max(Math.abs(timePs), stepPs);
  const [per, unit] = PS_PER_UNIT.find(([factor]) => size >= factor) ?? [1, "ps"];
  const decimals = Math.max(0, Math.ceil(Math.log10(per / stepPs) - 1e-9));
  return `${(timePs / per).toFixed(decimals)} ${unit}`;
}

/** A length of time with about four digits, e.g. `1.234 ms`. */
export function lengthLabel(lengthPs: number): string {
  const size = Math.abs(lengthPs);
  const [per, unit] = PS_PER_UNIT.find(([factor]) => size >= factor) ?? [1, "ps"];
  const value = lengthPs / per;
  const decimals = Math.max(0, 3 - Math.floor(Math.log10(Math.max(1, Math.abs(value)))));
  return `${Number(value.toFixed(decimals))} ${unit}`;
}
