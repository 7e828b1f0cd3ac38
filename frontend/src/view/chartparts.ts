/** What all charts have in common: axes, tooltips, legends, and the parts' colours with their patterns. */

import type { Part, Pattern } from "../base/parts";
import { fontFamily } from "./fonts";
import type { Palette } from "./palette";

const FONT = fontFamily();

export function textStyle(palette: Palette, size = 11) {
  return { color: palette.text, fontFamily: FONT, fontSize: size };
}

export function tooltip(palette: Palette) {
  return {
    backgroundColor: palette.panel,
    borderColor: palette.line,
    borderWidth: 1,
    padding: [6, 8],
    textStyle: textStyle(palette, 12),
    transitionDuration: 0,
    confine: true,
    extraCssText: "box-shadow: 0 2px 8px rgb(0 0 0 / 18%); font-variant-numeric: tabular-nums; border-radius: 3px;",
  };
}

export function axis(palette: Palette, name: string, align: "left" | "right" = "left") {
  return {
    name,
    nameTextStyle: { color: palette.quiet, fontFamily: FONT, fontSize: 11, align },
    axisLine: { lineStyle: { color: palette.line } },
    axisTick: { lineStyle: { color: palette.line } },
    axisLabel: { color: palette.quiet, fontFamily: FONT, fontSize: 11, hideOverlap: true },
    splitLine: { lineStyle: { color: palette.line, opacity: 0.6 } },
  };
}

export function legend(palette: Palette) {
  return {
    type: "scroll" as const,
    textStyle: textStyle(palette),
    itemWidth: 14,
    itemHeight: 10,
    itemGap: 14,
    inactiveColor: palette.line,
    pageTextStyle: textStyle(palette),
    pageIconColor: palette.text,
    pageIconInactiveColor: palette.line,
  };
}

/**
 * The same patterns as CSS draws over bars and swatches. Every key is given: ECharts fills in missing ones from its
 * own palette of patterns.
 */
const LINE_DECAL = { symbol: "rect", symbolSize: 1, dashArrayX: [1, 0], dashArrayY: [2, 5], rotation: 0 };
const DOT_DECAL = {
  symbol: "circle",
  symbolSize: 0.7,
  dashArrayX: [
    [6, 6],
    [0, 6, 6, 0],
  ],
  dashArrayY: [5, 0],
  rotation: 0,
};
const DECALS: Readonly<Record<Pattern, object>> = {
  plain: { ...LINE_DECAL, symbol: "none" },
  hatched: { ...LINE_DECAL, rotation: -Math.PI / 4 },
  dotted: DOT_DECAL,
};

/** Colour and pattern of a part, as ECharts takes them. */
export function partStyle(part: Part, palette: Palette) {
  const color = palette.dark ? "rgba(0, 0, 0, 0.38)" : "rgba(255, 255, 255, 0.5)";
  return {
    color: palette.dark ? part.dark : part.light,
    decal: { color, maxTileWidth: 256, maxTileHeight: 256, ...DECALS[part.pattern] },
  };
}

/** Text for a tooltip, which ECharts takes as html. */
export function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}

/** A line of a tooltip: colour, name, figures. */
export function tooltipRow(colour: string, name: string, figures: string): string {
  const patch = `<i style="display:inline-block;width:10px;height:10px;margin-right:6px;background:${colour}"></i>`;
  const value = `<b style="float:right;margin-left:18px;font-weight:500">${escapeHtml(figures)}</b>`;
  return `<div>${patch}${escapeHtml(name)}${value}</div>`;
}
