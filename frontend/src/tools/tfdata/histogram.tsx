/** How long the pipelines took to answer: calls by latency, slow ones in the colour of input. */

import { useCallback, useMemo } from "preact/hooks";
import type { Table } from "../../base/datatable";
import { plural, time } from "../../base/format";
import { part } from "../../base/parts";
import { axis, escapeHtml, textStyle, tooltip } from "../../view/chartparts";
import type { Palette } from "../../view/palette";
import { ChartSection } from "../../view/stacked";

/** From here on the guide calls an answer slow, in µs. */
const SLOW = 50;

interface Bin {
  readonly from: number;
  readonly to: number;
  readonly calls: number;
}

function sums(histogram: Table): Bin[] {
  const bins = new Map<number, Bin>();
  for (const row of histogram.rows) {
    const from = histogram.number(row, "from_us");
    const calls = (bins.get(from)?.calls ?? 0) + histogram.number(row, "num_calls");
    bins.set(from, { from, to: histogram.number(row, "to_us"), calls });
  }
  return [...bins.values()].sort((a, b) => a.from - b.from);
}

function nameOf({ from, to }: Bin): string {
  return from > 0 ? `≥ ${time(from, "us")}` : `< ${time(to, "us")}`;
}

function option(bins: readonly Bin[], palette: Palette) {
  const slow = part("input");
  const colour = palette.dark ? slow.dark : slow.light;
  return {
    animation: false,
    textStyle: textStyle(palette),
    grid: { left: 8, right: 8, top: 24, bottom: 4, containLabel: true },
    tooltip: {
      ...tooltip(palette),
      trigger: "item" as const,
      formatter: (item: unknown) => {
        const bin = bins[(item as { dataIndex: number }).dataIndex];
        return bin
          ? escapeHtml(
              `${bin.from > 0 ? `${time(bin.from, "us")} to` : "below"} ${time(bin.to, "us")}: ${plural(bin.calls, "call")}`,
            )
          : "";
      },
    },
    xAxis: { ...axis(palette, ""), type: "category" as const, data: bins.map(nameOf) },
    yAxis: { ...axis(palette, "calls", "right"), type: "value" as const, minInterval: 1 },
    series: [
      {
        type: "bar" as const,
        barCategoryGap: "12%",
        data: bins.map(({ from, calls }) => ({
          value: calls,
          itemStyle: { color: from >= SLOW ? colour : palette.quiet },
        })),
      },
    ],
  };
}

export function Latencies({ histogram, name }: { histogram: Table; name: string }) {
  const bins = useMemo(() => sums(histogram), [histogram]);
  const build = useCallback((palette: Palette) => option(bins, palette), [bins]);
  return (
    <ChartSection
      title="Latencies"
      doc="How long the calls of all pipelines took; from 50 µs on, in the colour of input, the program waits for data."
      label="Calls by latency"
      height={180}
      build={build}
      twin={histogram}
      name={name}
      id="latencies"
    />
  );
}
