/** A chart: draws an ECharts option, follows size and theme, and never blocks the page while its library arrives. */

import type { ECElementEvent, EChartsType } from "echarts/core";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { t } from "../base/messages";
import { brush, type SelectedBand } from "./brush";
import { type Palette, readPalette } from "./palette";

export type ChartOption = Parameters<EChartsType["setOption"]>[0];

export interface ChartProps {
  readonly label: string;
  readonly height: number;
  /** Makes the option anew for each theme. Keep it stable (useCallback) while the data stays. */
  readonly build: (palette: Palette) => ChartOption;
  /** The pointer is over an element of the chart. */
  readonly onPoint?: (event: ECElementEvent) => void;
  /** A column of a chart with categories was clicked, by its place. */
  readonly onColumn?: (column: number) => void;
  /** Some of these columns were dragged over: the first and the last, by their places. */
  readonly onRange?: ((first: number, last: number) => void) | undefined;
  /** The chart has been made, e.g. to listen to its other events; called once. */
  readonly onReady?: (chart: EChartsType) => void;
}

/** Counts up whenever the page changes between light and dark. */
function useThemeChanges(): number {
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const observer = new MutationObserver(() => setTurn((count) => count + 1));
    observer.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
    return () => observer.disconnect();
  }, []);
  return turn;
}

export function Chart({ label, height, build, onPoint, onColumn, onRange, onReady }: ChartProps) {
  const element = useRef<HTMLDivElement>(null);
  const [chart, setChart] = useState<EChartsType | null>(null);
  const [hasFailed, setFailed] = useState(false);
  const pointHandler = useRef(onPoint);
  pointHandler.current = onPoint;
  const columnHandler = useRef(onColumn);
  columnHandler.current = onColumn;
  const rangeHandler = useRef(onRange);
  rangeHandler.current = onRange;
  const [band, setBand] = useState<SelectedBand | null>(null);
  const readyHandler = useRef(onReady);
  readyHandler.current = onReady;
  const themeChanges = useThemeChanges();

  useEffect(() => {
    const target = element.current;
    if (!target) return;
    let newChart: EChartsType | null = null;
    let isUnmounted = false;
    const sizeObserver = new ResizeObserver(() => newChart?.resize());
    import("./echarts").then(
      ({ init }) => {
        if (isUnmounted) return;
        newChart = init(target, undefined, { renderer: "canvas" });
        newChart.on("mouseover", (event) => pointHandler.current?.(event as ECElementEvent));
        const chart = newChart;
        const isDragEnd = rangeHandler.current
          ? brush(chart, (first, last) => rangeHandler.current?.(first, last), setBand)
          : () => false;
        chart.getZr().on("click", ({ offsetX, offsetY }) => {
          const at = [offsetX, offsetY];
          if (columnHandler.current && !isDragEnd() && chart.containPixel("grid", at)) {
            columnHandler.current(chart.convertFromPixel("grid", at)[0] as number);
          }
        });
        sizeObserver.observe(target);
        readyHandler.current?.(newChart);
        setChart(newChart);
      },
      () => setFailed(true),
    );
    return () => {
      isUnmounted = true;
      sizeObserver.disconnect();
      newChart?.dispose();
    };
  }, []);

  useLayoutEffect(() => {
    if (chart && element.current) chart.setOption(build(readPalette(element.current)), { notMerge: true });
  }, [chart, build, themeChanges]);

  if (hasFailed) return <p class="nothing">{t("The chart could not be loaded; its figures are in the table.")}</p>;
  return (
    <div class="chart-frame">
      <div
        class={onColumn ? "chart clickable" : "chart"}
        ref={element}
        role="img"
        aria-label={label}
        style={{ height: `${height}px` }}
      />
      {band && <div class="band" style={{ left: `${band.left}px`, width: `${band.width}px` }} />}
    </div>
  );
}
