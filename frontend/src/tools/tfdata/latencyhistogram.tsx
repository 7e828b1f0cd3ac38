/** How long the pipelines took to answer: calls by latency, slow ones in the colour of input. */

import { useCallback } from "preact/hooks";
import { formatTime } from "../../base/format";
import { t } from "../../base/messages";
import { partById } from "../../base/parts";
import type { Row, Table } from "../../base/table";
import { axis, escapeHtml, textStyle, tooltip } from "../../view/chartparts";
import { ChartSection } from "../../view/chartsection";
import type { Palette } from "../../view/palette";

function binName(table: Table, row: Row): string {
  const [from, to] = [table.numberOrZero(row, "from_us"), table.numberOrZero(row, "to_us")];
  return from > 0 ? `≥ ${formatTime(from, "us")}` : `< ${formatTime(to, "us")}`;
}

function binTooltip(table: Table, row: Row | undefined): string {
  if (!row) return "";
  const [from, to] = [table.numberOrZero(row, "from_us"), table.numberOrZero(row, "to_us")];
  const calls = t("{count, plural, one {# call} other {# calls}}", { count: table.numberOrZero(row, "count") });
  const range =
    from > 0
      ? t("{least} to {most}", { least: formatTime(from, "us"), most: formatTime(to, "us") })
      : binName(table, row);
  return escapeHtml(`${range}: ${calls}`);
}

function histogramOption(table: Table, palette: Palette) {
  const slow = partById("input");
  const colour = palette.dark ? slow.dark : slow.light;
  return {
    animation: false,
    textStyle: textStyle(palette),
    grid: { left: 8, right: 8, top: 24, bottom: 4, containLabel: true },
    tooltip: {
      ...tooltip(palette),
      trigger: "item" as const,
      formatter: (item: unknown) => binTooltip(table, table.rows[(item as { dataIndex: number }).dataIndex]),
    },
    xAxis: { ...axis(palette, ""), type: "category" as const, data: table.rows.map((row) => binName(table, row)) },
    yAxis: { ...axis(palette, t("calls")), type: "value" as const, minInterval: 1 },
    series: [
      {
        type: "bar" as const,
        barCategoryGap: "12%",
        data: table.rows.map((row) => ({
          value: table.numberOrZero(row, "count"),
          itemStyle: { color: table.cell(row, "slow") === true ? colour : palette.quiet },
        })),
      },
    ],
  };
}

export function LatencyHistogram({ latencies, name }: { latencies: Table; name: string }) {
  const build = useCallback((palette: Palette) => histogramOption(latencies, palette), [latencies]);
  return (
    <ChartSection
      title={latencies.label}
      doc={latencies.doc}
      label={t("Calls by latency")}
      height={180}
      build={build}
      table={latencies}
      name={name}
      id="latencies"
    />
  );
}
