/** The timeline of a memory: zoom with the slider or Ctrl and the wheel, click for the allocations of a moment. */

import type { EChartsType } from "echarts/core";
import { useCallback, useEffect, useMemo, useRef } from "preact/hooks";
import { joinSentences, t } from "../../base/messages";
import type { Table } from "../../base/table";
import { ChartSection } from "../../view/chartsection";
import type { Palette } from "../../view/palette";
import { type MemoryUsage, mergePoints, usageOption } from "./usagechart";

const ZOOM_DELAY_MS = 250;

interface MemoryTimelineProps {
  readonly headline: string;
  readonly usage: MemoryUsage;
  /** Points of the whole capture, so that something is there where the finer ones end. */
  readonly coarsePoints: Table;
  readonly zoom: (from: number, to: number) => void;
  readonly choose: (ms: number) => void;
  readonly name: string;
}

interface ZoomRange {
  readonly startValue?: number;
  readonly endValue?: number;
}

export function MemoryTimeline({ headline, usage, coarsePoints, zoom, choose, name }: MemoryTimelineProps) {
  const rows = useMemo(() => mergePoints(coarsePoints, usage.points), [coarsePoints, usage.points]);
  const build = useCallback((palette: Palette) => usageOption(usage, rows, palette), [usage, rows]);
  const handlers = useRef({ zoom, choose });
  handlers.current = { zoom, choose };
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const listen = (chart: EChartsType) => {
    chart.on("datazoom", () => {
      clearTimeout(timer.current);
      timer.current = setTimeout(() => {
        const [shown] = (chart.getOption() as { dataZoom: ZoomRange[] }).dataZoom;
        if (shown?.startValue !== undefined && shown.endValue !== undefined)
          handlers.current.zoom(shown.startValue, shown.endValue);
      }, ZOOM_DELAY_MS);
    });
    chart.getZr().on("click", ({ offsetX, offsetY }) => {
      if (!chart.containPixel("grid", [offsetX, offsetY])) return;
      const [ms] = chart.convertFromPixel({ gridIndex: 0 }, [offsetX, offsetY]);
      if (ms !== undefined) handlers.current.choose(ms);
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
