/** The option of the roofline chart: ops as dots under the ceilings of compute and of memory, both axes logarithmic. */

import { largest, smallest } from "../../base/extent";
import { formatSignificant, formatTime } from "../../base/format";
import { t } from "../../base/messages";
import { nameColour } from "../../base/namecolour";
import type { Row, Table } from "../../base/table";
import { axis, escapeHtml, legend, textStyle, tooltip, tooltipRow } from "../../view/chartparts";
import type { Palette } from "../../view/palette";

const GIB_PER_GB = 2 ** 30 / 1e9;
const SMALLEST_DOT_PX = 5;
const LARGEST_DOT_PX = 34;

/** Ops that have a place on the chart: those with FLOPs and bytes. */
export function opsOnChart(ops: Table): Table {
  return ops.filter((row) => ops.numberOrZero(row, "flop_per_byte") > 0 && ops.numberOrZero(row, "gflop_per_s") > 0);
}

interface Range {
  readonly low: number;
  readonly high: number;
}

/** Whole powers of ten around all values. */
function decadeRange(values: readonly number[]): Range {
  const known = values.filter((value) => value > 0);
  if (!known.length) return { low: 0.1, high: 10 };
  const [low, high] = [smallest(known), largest(known)];
  return { low: 10 ** Math.floor(Math.log10(low)), high: 10 ** Math.ceil(Math.log10(high) + 0.01) };
}

/** The diameter of a dot whose area says how large its value is. */
function dotPx(value: number, most: number): number {
  return Math.max(SMALLEST_DOT_PX, LARGEST_DOT_PX * (value / most) ** 0.5);
}

function opTooltip(ops: Table, row: Row, palette: Palette): string {
  const figure = (id: string) => {
    const value = ops.number(row, id);
    return value === null ? t("unknown") : formatSignificant(value);
  };
  const colour = nameColour(ops.text(row, "category"), palette.dark);
  const lines = [
    [ops.text(row, "category"), formatTime(ops.numberOrZero(row, "self_us"), "us")],
    ["GFLOP/s", figure("gflop_per_s")],
    ["GiB/s", figure("gib_per_s")],
    ["FLOP/byte", figure("flop_per_byte")],
    [t("Bottleneck"), ops.text(row, "bound_by")],
  ] as const;
  const rows = lines.map(([name, value], index) => tooltipRow(index ? "transparent" : colour, name, value));
  return `<b>${escapeHtml(ops.text(row, "name"))}</b> <span>${escapeHtml(ops.text(row, "program"))}</span>${rows.join("")}`;
}

/** The place of a ceiling's name, at the end of its line and so many px above it. */
function endLabel(text: string, up: number, palette: Palette) {
  const offset = [-4, -up];
  return { endLabel: { show: true, formatter: text, color: palette.quiet, fontSize: 11, offset, align: "right" } };
}

function opSeries(ops: Table, category: string, mostUs: number, palette: Palette) {
  return {
    name: category,
    type: "scatter" as const,
    itemStyle: { color: nameColour(category, palette.dark), opacity: 0.8, borderColor: palette.panel },
    tooltip: { formatter: (item: { value: readonly unknown[] }) => opTooltip(ops, item.value[2] as Row, palette) },
    data: ops.where({ category }).rows.map((row) => ({
      value: [ops.numberOrZero(row, "flop_per_byte"), ops.numberOrZero(row, "gflop_per_s"), row],
      symbolSize: dotPx(ops.numberOrZero(row, "self_us"), mostUs),
    })),
  };
}

/** What the lines of all ceilings have in common. */
function ceilingSeries(name: string, palette: Palette) {
  const lineStyle = { color: palette.quiet, width: 1.5 };
  return { name, type: "line" as const, silent: true, showSymbol: false, lineStyle };
}

export function rooflineOption(ops: Table, ceilings: Table, palette: Palette) {
  const levels = ceilings.rows.filter((row) => ceilings.number(row, "gflop_per_s") !== null);
  const slopes = ceilings.rows.filter((row) => ceilings.number(row, "gib_per_s") !== null);
  const most = largest(ops.rows.map((row) => ops.numberOrZero(row, "self_us"))) || 1;
  const x = decadeRange([
    ...ops.rows.map((row) => ops.numberOrZero(row, "flop_per_byte")),
    ...slopes.map((row) => ceilings.numberOrZero(row, "ridge")),
  ]);
  const y = decadeRange([
    ...ops.rows.map((row) => ops.numberOrZero(row, "gflop_per_s")),
    ...levels.map((row) => ceilings.numberOrZero(row, "gflop_per_s")),
  ]);
  const roof = largest(levels.map((row) => ceilings.numberOrZero(row, "gflop_per_s"))) || y.high;
  const categories = ops.distinct("category");
  return {
    animation: false,
    textStyle: textStyle(palette),
    grid: { left: 8, right: 24, top: 40, bottom: 24, containLabel: true },
    legend: { ...legend(palette), top: 0, left: 64, data: categories },
    tooltip: { ...tooltip(palette), trigger: "item" as const },
    xAxis: {
      ...axis(palette, t("FLOP per byte")),
      type: "log" as const,
      min: x.low,
      max: x.high,
      nameLocation: "middle" as const,
      nameGap: 26,
    },
    yAxis: { ...axis(palette, "GFLOP/s", "right"), type: "log" as const, min: y.low, max: y.high },
    series: [
      ...categories.map((category) => opSeries(ops, category, most, palette)),
      ...levels.map((row) => ({
        ...ceilingSeries(ceilings.text(row, "name"), palette),
        // Above it slopes may end.
        ...endLabel(ceilings.text(row, "name"), -10, palette),
        data: [
          [x.low, ceilings.numberOrZero(row, "gflop_per_s")],
          [x.high, ceilings.numberOrZero(row, "gflop_per_s")],
        ],
      })),
      ...slopes.map((row, index) => {
        const slope = ceilings.numberOrZero(row, "gib_per_s") * GIB_PER_GB;
        const begin = Math.max(x.low, y.low / slope);
        const end = Math.max(begin, Math.min(x.high, roof / slope));
        const series = ceilingSeries(ceilings.text(row, "name"), palette);
        return {
          ...series,
          lineStyle: { ...series.lineStyle, type: "dashed" as const },
          // Memories of a chip are near one another: every other name stands higher.
          ...endLabel(ceilings.text(row, "name"), index % 2 ? 20 : 8, palette),
          data: [
            [begin, begin * slope],
            [end, end * slope],
          ],
        };
      }),
    ],
  };
}
