/** The timeline of a memory: zoom with the slider or Ctrl and the wheel, click for the allocations of a moment. */

import type { EChartsType } from "echarts/core";
import { useCallback, useEffect, useMemo, useRef } from "preact/hooks";
import { joinSentences, t } from "../../base/messages";
import type { Table } from "../../base/table";
import type { Palette } from "../../view/palette";
import { ChartSection } from "../../view/stacked";
import { merged, type Usage, usageOption } from "./usage";

const ZOOM_DELAY_MS = 250;

interface MemoryTimelineProps {
  readonly headline: string;
  readonly usage: Usage;
  /** Points of the whole capture, so that something is there where the finer ones end. */
  readonly coarse: Table;
  readonly zoom: (from: number, to: number) => void;
  readonly choose: (ms: number) => void;
  readonly name: string;
}

interface Zoom {
  readonly startValue?: number;
  readonly endValue?: number;
}

export function MemoryTimeline({ headline, usage, coarse, zoom, choose, name }: MemoryTimelineProps) {
  const rows = useMemo(() => merged(coarse, usage.points), [coarse, usage.points]);
  const build = useCallback((palette: Palette) => usageOption(usage, rows, palette), [usage, rows]);
  const act = useRef({ zoom, choose });
  act.current = { zoom, choose };
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const listen = (chart: EChartsType) => {
    chart.on("datazoom", () => {
      clearTimeout(timer.current);
      timer.current = setTimeout(() => {
        const [shown] = (chart.getOption() as { dataZoom: Zoom[] }).dataZoom;
        if (shown?.startValue !== undefined && shown.endValue !== undefined)
          act.current.zoom(shown.startValue, shown.endValue);
      }, ZOOM_DELAY_MS);
    });
    chart.getZr().on("click", ({ offsetX, offsetY }) => {
      if (!chart.containPixel("grid", [offsetX, offsetY])) return;
      const [ms] = chart.convertFromPixel({ gridIndex: 0 }, [offsetX, offsetY]);
      if (ms !== undefined) act.current.choose(ms);
    });
  };
  return (
    <ChartSection
      title={t("Memory over time")}
      doc={t(
        "Memory in use over time. Each pixel column shows the highest and lowest use. Zoom with the slider or Ctrl and the wheel; click for the allocations of a moment.",
      )}
      note={t("click for the allocations of a moment")}
      label={joinSentences(t("Memory in use over time."), headline)}
      height={296}
      build={build}
      onReady={listen}
      table={usage.points}
      name={name}
      id="usage"
    />
  );
}
