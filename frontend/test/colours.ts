/** The pages' colours, and how far apart they are. */

import { readFileSync } from "node:fs";
import { join } from "node:path";

export type Rgb = readonly [number, number, number];

export function linear(hex: string): Rgb {
  const channel = (from: number) => {
    const value = Number.parseInt(hex.slice(from, from + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  return [channel(1), channel(3), channel(5)];
}

/** By the WCAG. */
export function contrast(a: string, b: string): number {
  const [low = 0, high = 0] = [a, b]
    .map((hex) => {
      const [red, green, blue] = linear(hex);
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05;
    })
    .sort((one, other) => one - other);
  return high / low;
}

const CSS = readFileSync(join(import.meta.dirname, "../src/view/style/base.css"), "utf8");

/** What the variable is on a light page, and on a dark one. */
export function themes(name: string): readonly [light: string, dark: string] {
  const [light = "", dark = ""] = [...CSS.matchAll(new RegExp(`--${name}: (#\\w{6})`, "g"))].map(
    ([, colour]) => colour ?? "",
  );
  return [light, dark];
}
