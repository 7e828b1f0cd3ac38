/** Step time over steps as stacked columns, one colour per part; incomplete steps are pale and named so. */

import { useCallback, useMemo, useState } from "preact/hooks";
import type { Row, Table } from "../base/datatable";
import { percent, scaled, timeScale } from "../base/format";
import { type Part, partOfColumn } from "../base/parts";
import { Chart } from "./chart";
import { axis, escapeHtml, legend, partStyle, textStyle, tooltip, tooltipRow } from "./chartparts";
import { Grid } from "./grid";
import type { Palette } from "./palette";
import { Section } from "./section";

interface Measured {
  readonly id: string;
  readonly part: Part;
  readonly label: string;
}

/** The part columns of a step table, in stacking order, without those that are zero in every step. */
export function measuredParts(steps: Table): Measured[] {
  return steps.columns
    .flatMap((column) => {
      const part = partOfColumn(column.id);
      return part ? [{ id: column.id, part, label: column.label }] : [];
    })
    .filter(({ id }) => steps.rows.some((row) => steps.number(row, id) > 0));
}

/** The step's whole time; step tables of TPUs have no column for it. */
export function stepTime(steps: Table, row: Row, parts: readonly Measured[]): number {
  return steps.has("stepTimeMs")
    ? steps.number(row, "stepTimeMs")
    : parts.reduce((sum, { id }) => sum + steps.number(row, id), 0);
}

export function isIncomplete(steps: Table, row: Row): boolean {
  return steps.cell(row, "incomplete") === true;
}

function option(steps: Table, parts: readonly Measured[], palette: Palette) {
  const times = steps.rows.map((row) => stepTime(steps, row, parts));
  const scale = timeScale(Math.max(...times, 0));
  const whole = times.filter((_, place) => !isIncomplete(steps, steps.rows[place] ?? []));
  const mean = whole.reduce((sum, time) => sum + time, 0) / Math.max(1, whole.length);
  const zoomed = steps.rows.length > 60;
  const describe = (place: number) => {
    const row = steps.rows[place] ?? [];
    const total = times[place] ?? 0;
    const lines = parts.map(({ id, part, label }) => {
      const value = steps.number(row, id);
      const share = total > 0 ? ` · ${percent(value / total)}` : "";
      return tooltipRow(palette.dark ? part.dark : part.light, label, `${scaled(value, scale)} ${scale.unit}${share}`);
    });
    const cut = isIncomplete(steps, row) ? " · incomplete, not in the averages" : "";
    const head = `Step ${steps.text(row, "stepnum")} · ${scaled(total, scale)} ${scale.unit}${cut}`;
    return `<div style="margin-bottom:4px"><b>${escapeHtml(head)}</b></div>${lines.reverse().join("")}`;
  };
  return {
    animation: false,
    textStyle: textStyle(palette),
    aria: { enabled: true, decal: { show: true } },
    grid: { left: 8, right: 64, top: 34, bottom: zoomed ? 48 : 24, containLabel: true },
    legend: { ...legend(palette), top: 0, left: 36 },
    tooltip: {
      ...tooltip(palette),
      trigger: "axis" as const,
      axisPointer: { type: "shadow" as const },
      formatter: (items: unknown) => describe((items as { dataIndex: number }[])[0]?.dataIndex ?? 0),
    },
    xAxis: {
      ...axis(palette, "Step"),
      type: "category" as const,
      data: steps.rows.map((row) =>
        isIncomplete(steps, row) ? `${steps.text(row, "stepnum")} …` : steps.text(row, "stepnum"),
      ),
    },
    yAxis: { ...axis(palette, scale.unit), type: "value" as const, axisLine: { show: false } },
    dataZoom: [
      { type: "inside" as const, zoomOnMouseWheel: "ctrl" as const, moveOnMouseWheel: false },
      ...(zoomed
        ? [{ type: "slider" as const, height: 18, bottom: 4, borderColor: palette.line, textStyle: textStyle(palette) }]
        : []),
    ],
    series: parts.map(({ id, part, label }, place) => ({
      name: label,
      type: "bar" as const,
      stack: "step",
      barMaxWidth: 48,
      itemStyle: partStyle(part, palette),
      data: steps.rows.map((row) => ({
        value: steps.number(row, id) * scale.factor,
        ...(isIncomplete(steps, row) && { itemStyle: { opacity: 0.4 } }),
      })),
      ...(place === 0 && {
        markLine: {
          silent: true,
          symbol: "none",
          lineStyle: { color: palette.text, type: "dashed" as const, opacity: 0.7 },
          label: { ...textStyle(palette, 10), formatter: `mean ${scaled(mean, scale)}`, position: "end" as const },
          data: [{ yAxis: mean * scale.factor }],
        },
      }),
    })),
  };
}

interface StepChartProps {
  readonly steps: Table;
  readonly name: string;
  readonly title?: string;
}

export function StepChart({ steps, name, title = "Step-time graph" }: StepChartProps) {
  const [asTable, setAsTable] = useState(false);
  const parts = useMemo(() => measuredParts(steps), [steps]);
  const build = useCallback((palette: Palette) => option(steps, parts, palette), [steps, parts]);
  const cut = steps.rows.filter((row) => isIncomplete(steps, row)).length;
  const toggle = (
    <button type="button" class="button" aria-pressed={asTable} onClick={() => setAsTable(!asTable)}>
      {asTable ? "Show as chart" : "Show as table"}
    </button>
  );
  const note = cut > 0 ? `${cut} incomplete, shown pale and left out of the averages` : undefined;
  return (
    <Section
      title={title}
      doc="How long each step took and what its time went into. Click a part in the legend to leave it out; Ctrl and the wheel zoom."
      note={note}
      controls={toggle}
    >
      {asTable ? (
        <Grid table={steps} name={`${name}_steps`} />
      ) : (
        <Chart label={`Step time of ${steps.rows.length} steps, stacked by part`} height={260} build={build} />
      )}
    </Section>
  );
}
