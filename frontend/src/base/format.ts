/** Figures as people read them: three or four significant digits, a unit, no exponent where it can be helped. */

import { clamp } from "./clamp";
import { currentLanguage, groupDigits, THIN, t } from "./messages";

const MINUS = "\u2212";

/** The share of a figure by which three digits may round it up to the next power. */
const ROUNDING_MARGIN = 0.0005;

/** Digits behind the point which give a figure of this size about three significant ones. */
export function decimalsFor(size: number): number {
  // What rounds up to one digit more has one place less: 9.996 is 10.0.
  const magnitude = Math.abs(size) * (1 + ROUNDING_MARGIN);
  if (magnitude === 0 || !Number.isFinite(magnitude)) return 0;
  return clamp(2 - Math.floor(Math.log10(magnitude)), 0, 4);
}

/** A number with grouped thousands and a fixed count of decimals. */
export function formatFixed(value: number, decimals: number): string {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value).toFixed(decimals);
  const [whole = "0", part] = size.split(".");
  const text = part === undefined ? groupDigits(whole) : `${groupDigits(whole)}.${part}`;
  return value < 0 && Number(size) !== 0 ? MINUS + text : text;
}

/** A whole number, with grouped thousands. */
export function formatCount(value: number): string {
  return formatFixed(value, 0);
}

/** Any number by its own size; whole numbers stay whole. */
export function formatNumber(value: number): string {
  if (Number.isInteger(value)) return formatFixed(value, 0);
  const magnitude = Math.abs(value);
  if (magnitude !== 0 && (magnitude < 1e-4 || magnitude >= 1e15)) return value.toExponential(2).replace("-", MINUS);
  return formatFixed(value, decimalsFor(value));
}

/** Four significant digits, with grouped thousands. */
export function formatSignificant(value: number): string {
  return value.toLocaleString("en-US", { maximumSignificantDigits: 4 });
}

/** With a plus where it is above zero, since it is a difference. */
export function formatDelta(value: number, format: (value: number) => string): string {
  return `${value > 0 ? "+" : ""}${format(value)}`;
}

/** A fraction 0–1 as per cent. */
export function formatPercent(fraction: number, decimals = 1): string {
  const hundredths = fraction * 100;
  if (hundredths > 0 && hundredths < 0.5 * 10 ** -decimals)
    return `<${THIN}${withPercentSign(formatFixed(10 ** -decimals, decimals))}`;
  return withPercentSign(formatFixed(hundredths, decimals));
}

/** English sets the sign apart. */
function withPercentSign(figure: string): string {
  return `${figure}${currentLanguage() === "en" ? THIN : ""}%`;
}

export interface Scale {
  readonly unit: string;
  /** Multiply by it to get from the given unit to `unit`. */
  readonly factor: number;
  readonly decimals: number;
}

export const PS_PER_MS = 1e9;
export const MS_PER_PS = 1 / PS_PER_MS;
/** By the unit as tools declare it. */
const PS_PER_UNIT: Readonly<Record<string, number>> = { ps: 1, ns: 1e3, us: 1e6, ms: PS_PER_MS, s: 1e12 };
/** In which times are written, the largest first. */
const TIME_UNITS = ["s", "ms", "us", "ns"];

/** Picoseconds in one of this unit; those of a millisecond for what is no unit of time. */
function psPer(unit: string): number {
  return PS_PER_UNIT[unit] ?? PS_PER_MS;
}

/** Whether it is a unit of time, as tools declare them. */
export function isTimeUnit(unit: string): boolean {
  return unit in PS_PER_UNIT;
}

/** How many milliseconds one of this unit is; 1 for what is no unit of time. */
export function msPer(unit: string): number {
  return psPer(unit) / PS_PER_MS;
}

/** The unit in which a column of times whose largest is `size` (in `unit`) reads best. */
export function timeScale(size: number, unit = "ms"): Scale {
  const picoseconds = Math.abs(size) * psPer(unit);
  const name = TIME_UNITS.find((name) => picoseconds >= psPer(name)) ?? (picoseconds === 0 ? "ms" : "ns");
  return {
    unit: name === "us" ? "µs" : name,
    factor: psPer(unit) / psPer(name),
    decimals: Math.min(3, decimalsFor(picoseconds / psPer(name))),
  };
}

/** One decimal more, for tables of parts which are smaller than their sum. */
export function withMoreDecimals(scale: Scale): Scale {
  return { ...scale, decimals: Math.min(3, scale.decimals + 1) };
}

/** A figure of a column with this scale; something too small for its decimals is not shown as nothing. */
export function formatScaled(value: number, scale: Scale): string {
  const figure = value * scale.factor;
  const least = 10 ** -scale.decimals;
  // Far below that it is only what a sum of fractions leaves over.
  if (figure > least * 1e-6 && figure < least / 2) return `<${THIN}${formatFixed(least, scale.decimals)}`;
  return formatFixed(figure, scale.decimals);
}

/** One time with its unit, e.g. `1.43 ms`. */
export function formatTime(value: number, unit = "ms"): string {
  const scale = timeScale(value, unit);
  return `${formatScaled(value, scale)}${THIN}${scale.unit}`;
}

const BYTE_UNITS = ["B", "kB", "MB", "GB", "TB"];

/** Bytes in powers of 1000, as disks and the file listing count. */
export function formatBytes(value: number): string {
  let size = Math.abs(value);
  let place = 0;
  while (size >= 1000 * (1 - ROUNDING_MARGIN) && place < BYTE_UNITS.length - 1) {
    size /= 1000;
    place += 1;
  }
  const hasTenths = place > 0 && decimalsFor(size) > 1;
  return `${formatFixed(Math.sign(value) * size, hasTenths ? 1 : 0)}${THIN}${BYTE_UNITS[place]}`;
}

const BINARY_UNITS = ["B", "KiB", "MiB", "GiB", "TiB"];

/** The unit in which sizes of memory up to `size` read best; devices have memory in powers of 1024. */
export function memoryScale(size: number): Scale {
  let place = 0;
  while (Math.abs(size) >= 1024 ** (place + 1) * (1 - ROUNDING_MARGIN) && place < BINARY_UNITS.length - 1) place += 1;
  const factor = 1024 ** -place;
  return {
    unit: BINARY_UNITS[place] ?? "",
    factor,
    decimals: place === 0 ? 0 : Math.min(2, decimalsFor(size * factor)),
  };
}

/** One size of memory with its unit, e.g. `2.99 GiB`. */
export function formatMemory(value: number): string {
  const scale = memoryScale(value);
  return `${formatFixed(value * scale.factor, scale.decimals)}${THIN}${scale.unit}`;
}

/** A moment as `2026-11-20 21:38` in local time. */
export function formatMoment(seconds: number): string {
  const date = new Date(seconds * 1000);
  const two = (part: number) => String(part).padStart(2, "0");
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}`;
}

/** How long ago a moment was, roughly. */
export function timeAgo(seconds: number, now = Date.now() / 1000): string {
  const passed = now - seconds;
  // A unit begins at one and a half of it, which rounds to 2: "1 minutes" is never written.
  if (passed < 90) return t("just now");
  if (passed < 5400) return t("{minutes} minutes ago", { minutes: Math.round(passed / 60) });
  if (passed < 129600) return t("{hours} hours ago", { hours: Math.round(passed / 3600) });
  return t("{days} days ago", { days: Math.round(passed / 86400) });
}

/** Any value with its unit, as a tool declares it. */
export function formatValue(value: string | number | boolean | null, unit: string): string {
  if (value === null) return "";
  if (typeof value === "boolean") return value ? t("yes") : t("no");
  if (typeof value === "string") return value;
  if (isTimeUnit(unit)) return formatTime(value, unit);
  if (unit === "share") return formatPercent(value);
  if (unit === "bytes") return formatBytes(value);
  if (unit === "iB") return formatMemory(value);
  if (unit === "percent") return withPercentSign(formatNumber(value));
  return unit === "" ? formatNumber(value) : `${formatNumber(value)}${THIN}${unit}`;
}
