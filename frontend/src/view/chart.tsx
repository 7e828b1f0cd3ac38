/** A chart: draws an ECharts option, follows size and theme, and never blocks the page while its library arrives. */

import type { ECElementEvent, EChartsType } from "echarts/core";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { t } from "../base/messages";
import { listenToDrags, type SelectedBand } from "./brush";
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

type Handlers = { readonly [K in "onPoint" | "onColumn" | "onRange" | "onReady"]: ChartProps[K] | undefined };

/** Calls handlers for what the pointer does, and draws the band while some columns are dragged over. */
function listen(
  chart: EChartsType,
  handlers: { readonly current: Handlers },
  drawBand: (band: SelectedBand | null) => void,
): void {
  chart.on("mouseover", (event) => handlers.current.onPoint?.(event as ECElementEvent));
  const isDragEnd = handlers.current.onRange
    ? listenToDrags(chart, (first, last) => handlers.current.onRange?.(first, last), drawBand)
    : () => false;
  chart.getZr().on("click", ({ offsetX, offsetY }) => {
    const { onColumn } = handlers.current;
    const position = [offsetX, offsetY];
    if (onColumn && !isDragEnd() && chart.containPixel("grid", position)) {
      onColumn(chart.convertFromPixel("grid", position)[0] as number);
    }
  });
}

export function Chart({ label, height, build, onPoint, onColumn, onRange, onReady }: ChartProps) {
  const element = useRef<HTMLDivElement>(null);
  const [chart, setChart] = useState<EChartsType | null>(null);
  const [hasFailed, setFailed] = useState(false);
  const [band, setBand] = useState<SelectedBand | null>(null);
  // The chart is made once, and calls those that were given last.
  const handlers = useRef<Handlers>({ onPoint, onColumn, onRange, onReady });
  handlers.current = { onPoint, onColumn, onRange, onReady };
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
        listen(newChart, handlers, setBand);
        sizeObserver.observe(target);
        handlers.current.onReady?.(newChart);
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
