/** Stacked columns in the parts' colours, with a line across. */

import { largest } from "../base/extent";
import { formatDelta, formatPercent, formatScaled, type Scale } from "../base/format";
import { t } from "../base/messages";
import type { Part } from "../base/parts";
import { axis, escapeHtml, legend, partStyle, textStyle, tooltip, tooltipRow } from "./chartparts";
import type { Palette } from "./palette";

export interface StackedLayer {
  readonly label: string;
  readonly part: Part;
  /** One per column, in ms. */
  readonly valuesMs: readonly number[];
}

export interface StackedColumn {
  readonly name: string;
  /** First line of its tooltip. */
  readonly head: string;
  readonly totalMs: number;
  readonly faded?: boolean;
  /** The baseline's step that it is compared with; null where there is none. */
  readonly base?: BaselineStep | null;
}

export interface BaselineStep {
  readonly totalMs: number;
  /** How much longer this session's step takes, in ms; null where they cannot be compared. */
  readonly deltaMs: number | null;
  /** Which step or average of the baseline it is; empty where it is the same step. */
  readonly name: string;
}

export interface StackedChart {
  /** Bottom to top. */
  readonly layers: readonly StackedLayer[];
  readonly columns: readonly StackedColumn[];
  readonly scale: Scale;
  readonly axisName: string;
  readonly line: { readonly label: string; readonly value: number } | null;
  /** From this many columns on there is a slider to choose a range. */
  readonly sliderFrom: number;
}

const BASELINE = t("Baseline");
/** Columns that averages leave out are cut where they are so many times as long as the others, which they would flatten. */
const OUTLIER_FACTOR = 3;
/** Then the axis is so many times as long as the longest of the others. */
const AXIS_FACTOR = 1.25;

/** The end of the axis, ms: that of the longest column, or where columns left out are far longer, of the others. */
export function axisEndMs(columns: readonly StackedColumn[]): number {
  const longestOf = (several: readonly StackedColumn[]) =>
    largest(several.flatMap(({ totalMs, base }) => [totalMs, base?.totalMs ?? 0]));
  const [counting, all] = [longestOf(columns.filter(({ faded }) => !faded)), longestOf(columns)];
  return counting > 0 && all > OUTLIER_FACTOR * counting ? AXIS_FACTOR * counting : all;
}

/** An arrow where a column is cut, with its total. */
function cutMarkers({ columns, scale }: StackedChart, palette: Palette) {
  const endMs = axisEndMs(columns);
  if (!columns.some(({ totalMs }) => totalMs > endMs)) return [];
  return [
    {
      type: "scatter" as const,
      symbol: "triangle",
      symbolSize: [10, 6],
      clip: false,
      silent: true,
      z: 5,
      itemStyle: { color: palette.text, decal: { symbol: "none" } },
      label: {
        ...textStyle(palette, 10),
        show: true,
        position: "right" as const,
        backgroundColor: palette.panel,
        padding: [1, 3],
        formatter: ({ dataIndex }: { dataIndex: number }) => formatScaled(columns[dataIndex]?.totalMs ?? 0, scale),
      },
      data: columns.map(({ totalMs }) => (totalMs > endMs ? endMs * scale.factor : null)),
    },
  ];
}

function lineAcross({ line, scale }: StackedChart, palette: Palette) {
  if (!line) return {};
  return {
    markLine: {
      silent: true,
      symbol: "none",
      lineStyle: { color: palette.text, type: "dashed" as const, opacity: 0.7 },
      label: {
        ...textStyle(palette, 10),
        formatter: `${line.label} ${formatScaled(line.value, scale)}`,
        position: "end" as const,
      },
      data: [{ yAxis: line.value * scale.factor }],
    },
  };
}

/** The tooltip of one column: its parts from top to bottom, as they stand. */
function columnTooltip({ layers, columns, scale }: StackedChart, index: number, palette: Palette): string {
  const column = columns[index];
  if (!column) return "";
  const rows = layers
    .filter(({ valuesMs }) => (valuesMs[index] ?? 0) > 0)
    .map(({ label, part, valuesMs }) => {
      const value = valuesMs[index] ?? 0;
      const share = column.totalMs > 0 ? ` · ${formatPercent(value / column.totalMs)}` : "";
      return tooltipRow(
        palette.dark ? part.dark : part.light,
        label,
        `${formatScaled(value, scale)} ${scale.unit}${share}`,
      );
    });
  return `<div style="margin-bottom:4px"><b>${escapeHtml(column.head)}</b></div>${rows.reverse().join("")}${column.base ? baselineTooltip(column.base, scale) : ""}`;
}

/** A mark across each column at the time that it is compared with. */
function baselineMarkers({ columns, scale }: StackedChart, palette: Palette) {
  if (!columns.some(({ base }) => base)) return [];
  return [
    {
      name: BASELINE,
      type: "scatter" as const,
      symbol: "rect",
      symbolSize: [26, 5],
      itemStyle: { color: palette.text, borderColor: palette.panel, borderWidth: 1, decal: { symbol: "none" } },
      silent: true,
      z: 5,
      data: columns.map(({ base }) => (base ? base.totalMs * scale.factor : null)),
    },
  ];
}

/** What a column is held against, in words. */
function baselineTooltip({ totalMs, deltaMs, name }: BaselineStep, scale: Scale): string {
  const change = deltaMs === null ? "" : ` · ${formatDelta(deltaMs, (ms) => formatScaled(ms, scale))} ${scale.unit}`;
  return `<div style="margin-top:4px">${escapeHtml(`${BASELINE}${name && `, ${name}`}: ${formatScaled(totalMs, scale)} ${scale.unit}${change}`)}</div>`;
}

/** Ends where columns are cut, at no round number. */
function timeAxis({ columns, scale }: StackedChart, palette: Palette) {
  const usual = { ...axis(palette, scale.unit, "right"), type: "value" as const };
  const endMs = axisEndMs(columns);
  if (!columns.some(({ totalMs }) => totalMs > endMs)) return usual;
  return { ...usual, max: endMs * scale.factor, axisLabel: { ...usual.axisLabel, showMaxLabel: false } };
}

export function stackedOption(chart: StackedChart, palette: Palette) {
  const { layers, columns, scale } = chart;
  const slider = columns.length >= chart.sliderFrom;
  return {
    animation: false,
    textStyle: textStyle(palette),
    // The chart has a name of its own.
    aria: { enabled: true, label: { enabled: false }, decal: { show: true } },
    grid: { left: 8, right: 72, top: 34, bottom: (slider ? 28 : 4) + (chart.axisName ? 20 : 4), containLabel: true },
    legend: { ...legend(palette), top: 0, left: 64 },
    tooltip: {
      ...tooltip(palette),
      trigger: "axis" as const,
      axisPointer: { type: "shadow" as const },
      formatter: (items: unknown) =>
        columnTooltip(chart, (items as { dataIndex: number }[])[0]?.dataIndex ?? -1, palette),
    },
    xAxis: {
      ...axis(palette, chart.axisName),
      nameLocation: "middle" as const,
      nameGap: 24,
      type: "category" as const,
      data: columns.map(({ name }) => name),
    },
    yAxis: timeAxis(chart, palette),
    dataZoom: [
      {
        type: "inside" as const,
        zoomOnMouseWheel: "ctrl" as const,
        moveOnMouseWheel: false,
        moveOnMouseMove: "shift" as const,
      },
      ...(slider ? [{ type: "slider" as const, height: 18, bottom: 4, textStyle: textStyle(palette) }] : []),
    ],
    series: [
      ...layers.map(({ label, part, valuesMs }, layer) => ({
        name: label,
        type: "bar" as const,
        stack: "all",
        barMaxWidth: 48,
        itemStyle: partStyle(part, palette),
        data: columns.map(({ faded }, index) => ({
          value: (valuesMs[index] ?? 0) * scale.factor,
          ...(faded && { itemStyle: { opacity: 0.4 } }),
        })),
        ...(layer === 0 && lineAcross(chart, palette)),
      })),
      ...baselineMarkers(chart, palette),
      ...cutMarkers(chart, palette),
    ],
  };
}
