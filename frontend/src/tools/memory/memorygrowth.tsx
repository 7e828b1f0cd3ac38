/** From step to step: what stays when a step ends, and which ops leave it. */

import { useCallback, useMemo } from "preact/hooks";
import { largest } from "../../base/extent";
import { formatMemory, memoryScale } from "../../base/format";
import { t } from "../../base/messages";
import type { Row, Table } from "../../base/table";
import { axis, legend, textStyle, tooltip } from "../../view/chartparts";
import { ChartSection } from "../../view/chartsection";
import { Grid } from "../../view/grid";
import type { Palette } from "../../view/palette";
import { Section } from "../../view/section";

const CHART_LINES: readonly (readonly [string, string, string, string])[] = [
  ["in_use_bytes", t("In use at the step's end"), "#2f6fd6", "#5b9bf5"],
  ["held_bytes", t("Allocated since the capture began"), "#b91c2c", "#e5484d"],
];

function growthOption(steps: Table, palette: Palette) {
  const most = largest(
    steps.rows.map((row) => steps.numberOrZero(row, "in_use_bytes")),
    1,
  );
  const scale = memoryScale(most);
  return {
    animation: false,
    textStyle: textStyle(palette),
    grid: { left: 8, right: 40, top: 34, bottom: 8, containLabel: true },
    legend: { ...legend(palette), top: 0, left: 36 },
    tooltip: {
      ...tooltip(palette),
      trigger: "axis" as const,
      valueFormatter: (value: unknown) => formatMemory(Number(value) / scale.factor),
    },
    xAxis: {
      ...axis(palette, t("step")),
      type: "category" as const,
      data: steps.rows.map((row) => steps.text(row, "step")),
    },
    yAxis: { ...axis(palette, scale.unit, "right"), type: "value" as const, min: 0 },
    series: CHART_LINES.map(([id, name, light, dark]) => ({
      name,
      type: "line" as const,
      symbolSize: 4,
      color: palette.dark ? dark : light,
      data: steps.rows.map((row) => steps.numberOrZero(row, id) * scale.factor),
    })),
  };
}

const SPECS = { event: { hidden: true } } as const;

interface GrowthProps {
  readonly steps: Table;
  readonly growth: Table;
  readonly name: string;
  readonly link: (row: Row) => { go: () => void } | undefined;
}

export function MemoryGrowth({ steps, growth, name, link }: GrowthProps) {
  const build = useCallback((palette: Palette) => growthOption(steps, palette), [steps]);
  const sort = useMemo(() => [{ id: "kept_bytes", desc: true }], []);
  if (!steps.rows.length) return null;
  return (
    <div class={steps.rows.length > 1 ? "columns halves" : undefined}>
      {steps.rows.length > 1 && (
        <ChartSection
          title={t("From step to step")}
          doc={t("Memory in use at the end of the steps. If the lower line climbs, memory leaks.")}
          label={t("Memory at the end of {count} steps", { count: steps.rows.length })}
          height={200}
          build={build}
          table={steps}
          name={`${name}_steps`}
          id="steps"
        />
      )}
      <Section
        title={t("Allocations that outlive their step")}
        doc={t(
          "Allocations that are alive when their step ends, by op. Allocations that recur in every step and are never freed are leaks.",
        )}
      >
        {growth.rows.length > 0 ? (
          <Grid table={growth} specs={SPECS} name={`${name}_growth`} id="growth" sort={sort} link={link} />
        ) : (
          <p class="nothing">{t("Every step frees its allocations.")}</p>
        )}
      </Section>
    </div>
  );
}
