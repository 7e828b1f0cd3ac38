/** Stacked columns in the parts' colours, with a line across and a table as the chart's twin. */

import type { ComponentChildren } from "preact";
import { largest } from "../base/extent";
import { percent, type Scale, scaled } from "../base/format";
import { t } from "../base/messages";
import type { Part } from "../base/parts";
import type { Row, Table } from "../base/table";
import type { Link } from "../state/links";
import { Chart, type ChartProps } from "./chart";
import { axis, escapeHtml, legend, partStyle, textStyle, tooltip, tooltipRow } from "./chartparts";
import { useChoice } from "./choices";
import { Grid } from "./grid";
import type { ColumnSpecs } from "./gridmodel";
import type { Palette } from "./palette";
import { Section } from "./section";

export interface StackedLayer {
  readonly label: string;
  readonly part: Part;
  /** One per column, in ms. */
  readonly values: readonly number[];
}

export interface StackedColumn {
  readonly name: string;
  /** First line of its tooltip. */
  readonly head: string;
  readonly total: number;
  readonly faded?: boolean;
  /** The baseline's step that it is compared with; null where there is none. */
  readonly base?: BaselineColumn | null;
}

export interface BaselineColumn {
  /** In ms. */
  readonly total: number;
  /** How much longer this session's step takes, in ms; null where they cannot be compared. */
  readonly delta: number | null;
  /** Which step or average of the baseline it is; empty where it is the same step. */
  readonly baselineStep: string;
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

/** Columns that averages leave out are cut where they are so many times as long as the others, which they would flatten. */
const OUTLIER_FACTOR = 3;
/** Then the axis is so many times as long as the longest of the others. */
const AXIS_FACTOR = 1.25;

/** The end of the axis, ms: that of the longest column, or where columns left out are far longer, of the others. */
export function axisEndMs(columns: readonly StackedColumn[]): number {
  const longestOf = (several: readonly StackedColumn[]) =>
    largest(several.flatMap(({ total, base }) => [total, base?.total ?? 0]));
  const [counting, all] = [longestOf(columns.filter(({ faded }) => !faded)), longestOf(columns)];
  return counting > 0 && all > OUTLIER_FACTOR * counting ? AXIS_FACTOR * counting : all;
}

/** An arrow where a column is cut, with its total. */
function cutMarkers({ columns, scale }: StackedChart, palette: Palette) {
  const reach = axisEndMs(columns);
  if (!columns.some(({ total }) => total > reach)) return [];
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
        formatter: ({ dataIndex }: { dataIndex: number }) => scaled(columns[dataIndex]?.total ?? 0, scale),
      },
      data: columns.map(({ total }) => (total > reach ? reach * scale.factor : null)),
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
        formatter: `${line.label} ${scaled(line.value, scale)}`,
        position: "end" as const,
      },
      data: [{ yAxis: line.value * scale.factor }],
    },
  };
}

/** The tooltip of one column: its parts from top to bottom, as they stand. */
function columnTooltip({ layers, columns, scale }: StackedChart, place: number, palette: Palette): string {
  const column = columns[place];
  if (!column) return "";
  const rows = layers
    .filter(({ values }) => (values[place] ?? 0) > 0)
    .map(({ label, part, values }) => {
      const value = values[place] ?? 0;
      const share = column.total > 0 ? ` · ${percent(value / column.total)}` : "";
      return tooltipRow(palette.dark ? part.dark : part.light, label, `${scaled(value, scale)} ${scale.unit}${share}`);
    });
  return `<div style="margin-bottom:4px"><b>${escapeHtml(column.head)}</b></div>${rows.reverse().join("")}${column.base ? baselineTooltip(column.base, scale) : ""}`;
}

const BASELINE = t("Baseline");

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
      data: columns.map(({ base }) => (base ? base.total * scale.factor : null)),
    },
  ];
}

/** What a column is held against, in words. */
function baselineTooltip({ total, delta, baselineStep }: BaselineColumn, scale: Scale): string {
  const change = delta === null ? "" : ` · ${delta > 0 ? "+" : ""}${scaled(delta, scale)} ${scale.unit}`;
  return `<div style="margin-top:4px">${escapeHtml(`${BASELINE}${baselineStep && `, ${baselineStep}`}: ${scaled(total, scale)} ${scale.unit}${change}`)}</div>`;
}

/** Ends where columns are cut, at no round number. */
function timeAxis({ columns, scale }: StackedChart, palette: Palette) {
  const usual = { ...axis(palette, scale.unit, "right"), type: "value" as const };
  const reach = axisEndMs(columns);
  if (!columns.some(({ total }) => total > reach)) return usual;
  return { ...usual, max: reach * scale.factor, axisLabel: { ...usual.axisLabel, showMaxLabel: false } };
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
      ...layers.map(({ label, part, values }, place) => ({
        name: label,
        type: "bar" as const,
        stack: "all",
        barMaxWidth: 48,
        itemStyle: partStyle(part, palette),
        data: columns.map(({ faded }, at) => ({
          value: (values[at] ?? 0) * scale.factor,
          ...(faded && { itemStyle: { opacity: 0.4 } }),
        })),
        ...(place === 0 && lineAcross(chart, palette)),
      })),
      ...baselineMarkers(chart, palette),
      ...cutMarkers(chart, palette),
    ],
  };
}

interface ChartSectionProps extends ChartProps {
  readonly title: string;
  readonly doc: string;
  readonly note?: string | undefined;
  readonly controls?: ComponentChildren;
  /** The chart's figures, for reading and copying. */
  readonly table: Table;
  readonly specs?: ColumnSpecs;
  readonly name: string;
  /** Short and unique on its page: under it the address keeps how it is shown. */
  readonly id: string;
  /** Where the rows of the twin lead; the chart's columns lead there, too. */
  readonly link?: ((row: Row) => Link | undefined) | undefined;
  readonly children?: ComponentChildren;
}

/** A titled chart that can be shown as a table. */
export function ChartSection({
  title,
  doc,
  note,
  controls,
  table,
  specs = {},
  name,
  id,
  link,
  children,
  ...chart
}: ChartSectionProps) {
  const [shownAs, setShownAs] = useChoice(`${id}.as`);
  const asTable = shownAs === "table";
  const open = (column: number) => link?.(table.rows[column] ?? [])?.go();
  return (
    <Section
      title={title}
      doc={doc}
      note={note}
      controls={
        <>
          {!asTable && controls}
          <button
            type="button"
            class="button"
            aria-pressed={asTable}
            onClick={() => setShownAs(asTable ? "" : "table")}
          >
            {asTable ? t("Show as chart") : t("Show as table")}
          </button>
        </>
      }
    >
      {children}
      {asTable ? (
        <Grid table={table} specs={specs} hideEmpty name={name} id={id} {...(link && { link })} />
      ) : (
        <Chart {...chart} {...(link && { onColumn: open })} />
      )}
    </Section>
  );
}
