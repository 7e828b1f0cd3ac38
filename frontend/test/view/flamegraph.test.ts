import { expect, it } from "vitest";
import { MOST_TINT_PERCENT } from "../../src/view/flamegraph";
import { contrast, themes } from "../colours";

function mixed(colour: string, other: string, percent: number): string {
  const channel = (from: number) => {
    const [a, b] = [colour, other].map((hex) => Number.parseInt(hex.slice(from, from + 2), 16));
    const value = Math.round(((a ?? 0) * percent + (b ?? 0) * (100 - percent)) / 100);
    return value.toString(16).padStart(2, "0");
  };
  return `#${channel(1)}${channel(3)}${channel(5)}`;
}

it.each(["bad", "link"])("names stay readable on what differs most from the baseline: %s", (tint) => {
  const [tints, shades, texts] = [themes(tint), themes("shade"), themes("text")];
  for (const at of [0, 1] as const) {
    expect(contrast(texts[at], mixed(tints[at], shades[at], MOST_TINT_PERCENT))).toBeGreaterThan(4.5);
  }
});
