/** Memory use over time as a chart: stacked areas of real events, fragmentation on the right. */

import { largest } from "../../base/extent";
import {
  formatMemory,
  formatNumber,
  formatPercent,
  formatTime,
  memoryScale,
  type Scale,
  timeScale,
} from "../../base/format";
import { t } from "../../base/messages";
import type { Row, Table } from "../../base/table";
import { cutBegin } from "../../base/text";
import { axis, escapeHtml, legend, textStyle, tooltip, tooltipRow } from "../../view/chartparts";
import type { Palette } from "../../view/palette";

export interface MemoryUsage {
  readonly points: Table;
  /** Begin and end of the capture, ms. */
  readonly captureMs: readonly [number, number];
  /** Begin and end of the part that is shown, ms. */
  readonly shownMs: readonly [number, number];
  /** The moment whose allocations are listed, ms. */
  readonly momentMs: number;
}

interface Layer {
  readonly id: string;
  readonly label: string;
  readonly light: string;
  readonly dark: string;
}

const AREAS: readonly Layer[] = [
  { id: "stack_bytes", label: t("Stack"), light: "#7a4a21", dark: "#a87848" },
  { id: "heap_bytes", label: t("Heap"), light: "#2f6fd6", dark: "#5b9bf5" },
  { id: "free_bytes", label: t("Free"), light: "#d5d9df", dark: "#3a3e45" },
];
const FRAGMENTATION: Layer = { id: "fragmentation", label: t("Fragmentation"), light: "#b91c2c", dark: "#e5484d" };

const colour = (layer: Layer, palette: Palette) => (palette.dark ? layer.dark : layer.light);

/** The distinct rows of two tables of the same columns, by time: a finer table adds points between those of a coarse one. */
export function mergePoints(coarse: Table, fine: Table): Row[] {
  const seen = new Set<string>();
  return [...coarse.rows, ...fine.rows]
    .filter((row) => {
      const key = JSON.stringify(row);
      return !seen.has(key) && seen.add(key);
    })
    .sort((a, b) => coarse.numberOrZero(a, "time_ms") - coarse.numberOrZero(b, "time_ms"));
}

const TOOLTIP_FACTS: readonly (readonly [string, string, (table: Table, row: Row) => string])[] = [
  [t("Requested"), "requested_bytes", (table, row) => formatMemory(table.numberOrZero(row, "requested_bytes"))],
  [t("Allocated"), "allocation_bytes", (table, row) => formatMemory(table.numberOrZero(row, "allocation_bytes"))],
  [t("Op"), "op_name", (table, row) => table.text(row, "op_name")],
  [t("Step id"), "step", (table, row) => table.text(row, "step")],
  [t("Region"), "region_type", (table, row) => table.text(row, "region_type")],
  [t("Data type"), "data_type", (table, row) => table.text(row, "data_type")],
  [t("Shape"), "shape", (table, row) => table.text(row, "shape")],
];

function pointTooltip(table: Table, row: Row | undefined, palette: Palette): string {
  if (!row) return "";
  const [activity, moment] = [escapeHtml(table.text(row, "activity")), formatTime(table.numberOrZero(row, "time_ms"))];
  const head = t("{activity} at {time}", { activity: `<b>${activity}</b>`, time: moment });
  const facts = TOOLTIP_FACTS.filter(([, id]) => table.text(row, id) !== "").map(([label, , show]) => {
    const text = show(table, row);
    const short = text.length > 60 ? `…${cutBegin(text, 60)}` : text;
    return tooltipRow("transparent", label, short);
  });
  const amounts = AREAS.filter(({ id }) => table.numberOrZero(row, id) > 0).map((layer) =>
    tooltipRow(colour(layer, palette), layer.label, formatMemory(table.numberOrZero(row, layer.id))),
  );
  const inUse = tooltipRow("transparent", t("In use"), formatMemory(table.numberOrZero(row, "in_use_bytes")));
  const fragmentation = tooltipRow(
    colour(FRAGMENTATION, palette),
    FRAGMENTATION.label,
    formatPercent(table.numberOrZero(row, "fragmentation")),
  );
  return `<div style="margin-bottom:4px">${head}</div>${[...facts, inUse, ...amounts.reverse(), fragmentation].join("")}`;
}

function areaSeries(table: Table, rows: readonly Row[], scale: Scale, palette: Palette) {
  return AREAS.filter(({ id }) => rows.some((row) => table.numberOrZero(row, id) > 0)).map((layer) => ({
    name: layer.label,
    type: "line" as const,
    stack: "memory",
    step: "end" as const,
    symbol: "none",
    lineStyle: { width: layer.id === "free_bytes" ? 0 : 1, color: colour(layer, palette) },
    itemStyle: { color: colour(layer, palette) },
    areaStyle: { color: colour(layer, palette), opacity: layer.id === "free_bytes" ? 0.5 : 0.75 },
    data: rows.map((row) => [table.numberOrZero(row, "time_ms"), table.numberOrZero(row, layer.id) * scale.factor]),
  }));
}

/** Fragmentation as a dashed line on the axis at the right, with a mark at the moment whose allocations are listed. */
function fragmentationSeries(table: Table, rows: readonly Row[], momentMs: number, palette: Palette) {
  return {
    name: FRAGMENTATION.label,
    type: "line" as const,
    step: "end" as const,
    yAxisIndex: 1,
    symbol: "none",
    lineStyle: { width: 1, type: "dashed" as const, color: colour(FRAGMENTATION, palette) },
    itemStyle: { color: colour(FRAGMENTATION, palette) },
    data: rows.map((row) => [table.numberOrZero(row, "time_ms"), table.numberOrZero(row, "fragmentation") * 100]),
    markLine: {
      silent: true,
      symbol: "none",
      lineStyle: { color: palette.text, type: "solid" as const, width: 1 },
      label: { show: false },
      data: [{ xAxis: momentMs }],
    },
  };
}

/** Zooming with Ctrl and the wheel, and with a slider. */
function zoomControls([startValue, endValue]: MemoryUsage["shownMs"], palette: Palette) {
  const shown = { filterMode: "none" as const, startValue, endValue };
  return [
    { type: "inside" as const, zoomOnMouseWheel: "ctrl" as const, moveOnMouseWheel: false, ...shown },
    {
      type: "slider" as const,
      height: 18,
      bottom: 4,
      // It would be drawn by count of events instead of by time.
      showDataShadow: false,
      labelFormatter: "",
      textStyle: textStyle(palette),
      ...shown,
    },
  ];
}

export function usageOption(usage: MemoryUsage, rows: readonly Row[], palette: Palette) {
  const { points, shownMs, captureMs, momentMs } = usage;
  const scale = memoryScale(
    largest(
      rows.map((row) => points.numberOrZero(row, "in_use_bytes")),
      1,
    ),
  );
  const axisScale = timeScale(captureMs[1]);
  return {
    animation: false,
    textStyle: textStyle(palette),
    // Two axes have names above them, below the legend.
    grid: { left: 8, right: 8, top: 50, bottom: 50, containLabel: true },
    // Free memory is mostly far more than what is used: shown when it is asked for.
    legend: { ...legend(palette), top: 0, left: 36, selected: { Free: false } },
    tooltip: {
      ...tooltip(palette),
      trigger: "axis" as const,
      formatter: (items: unknown) =>
        pointTooltip(points, rows[(items as { dataIndex: number }[])[0]?.dataIndex ?? -1], palette),
    },
    xAxis: {
      ...axis(palette, ""),
      type: "value" as const,
      min: captureMs[0],
      max: captureMs[1],
      axisLabel: {
        ...axis(palette, "").axisLabel,
        showMinLabel: false,
        showMaxLabel: false,
        formatter: (value: number) => `${formatNumber(value * axisScale.factor)} ${axisScale.unit}`,
      },
      axisPointer: { snap: true },
    },
    yAxis: [
      { ...axis(palette, scale.unit, "right"), type: "value" as const, min: 0 },
      {
        ...axis(palette, FRAGMENTATION.label, "right"),
        type: "value" as const,
        min: 0,
        max: 100,
        splitLine: { show: false },
        axisLabel: { ...axis(palette, "").axisLabel, formatter: (value: number) => formatPercent(0.01 * value, 0) },
      },
    ],
    dataZoom: zoomControls(shownMs, palette),
    series: [...areaSeries(points, rows, scale, palette), fragmentationSeries(points, rows, momentMs, palette)],
  };
}
