/** A chart: draws an ECharts option, follows size and theme, and never blocks the page while its library arrives. */

import type { ECElementEvent, EChartsType } from "echarts/core";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { t } from "../base/messages";
import { type Band, brush } from "./brush";
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
function useThemeTurn(): number {
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
  const [failed, setFailed] = useState(false);
  const point = useRef(onPoint);
  point.current = onPoint;
  const column = useRef(onColumn);
  column.current = onColumn;
  const range = useRef(onRange);
  range.current = onRange;
  const [band, setBand] = useState<Band | null>(null);
  const ready = useRef(onReady);
  ready.current = onReady;
  const theme = useThemeTurn();

  useEffect(() => {
    const target = element.current;
    if (!target) return;
    let made: EChartsType | null = null;
    let gone = false;
    const sizes = new ResizeObserver(() => made?.resize());
    import("./echarts").then(
      ({ init }) => {
        if (gone) return;
        made = init(target, undefined, { renderer: "canvas" });
        made.on("mouseover", (event) => point.current?.(event as ECElementEvent));
        const chart = made;
        const dragged = range.current
          ? brush(chart, (first, last) => range.current?.(first, last), setBand)
          : () => false;
        chart.getZr().on("click", ({ offsetX, offsetY }) => {
          const at = [offsetX, offsetY];
          if (column.current && !dragged() && chart.containPixel("grid", at)) {
            column.current(chart.convertFromPixel("grid", at)[0] as number);
          }
        });
        sizes.observe(target);
        ready.current?.(made);
        setChart(made);
      },
      () => setFailed(true),
    );
    return () => {
      gone = true;
      sizes.disconnect();
      made?.dispose();
    };
  }, []);

  useLayoutEffect(() => {
    if (chart && element.current) chart.setOption(build(readPalette(element.current)), { notMerge: true });
  }, [chart, build, theme]);

  if (failed) return <p class="nothing">{t("The chart could not be loaded; its figures are in the table.")}</p>;
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
