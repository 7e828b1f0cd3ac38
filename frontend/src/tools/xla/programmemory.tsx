/** A program's memory as pictures: the curve over its schedule, and where each temporary lies when. */

import { useCallback } from "preact/hooks";
import { largest } from "../../base/extent";
import { formatMemory, memoryScale, timeScale } from "../../base/format";
import { joinSentences, t } from "../../base/messages";
import { nameColour } from "../../base/namecolour";
import type { Row, Table } from "../../base/table";
import { Chart } from "../../view/chart";
import { axis, escapeHtml, textStyle, tooltip, tooltipRow } from "../../view/chartparts";
import type { Palette } from "../../view/palette";

interface CurveProps {
  readonly headline: string;
  readonly curve: Table;
  readonly peakPosition: number;
  /** The position of which the tables tell. */
  readonly shownPosition: number;
  /** Whether the axis is time instead of positions. */
  readonly isByTime: boolean;
  readonly choose: (position: number) => void;
}

export function MemoryCurve({ headline, curve, peakPosition, shownPosition, isByTime, choose }: CurveProps) {
  const build = useCallback(
    (palette: Palette) => curveOption({ curve, peakPosition, shownPosition, isByTime, palette }),
    [curve, peakPosition, shownPosition, isByTime],
  );
  const pick = (place: number) => {
    const at = curveAxis(curve, isByTime).at;
    const before = curve.rows.filter((row) => at(row) <= place).at(-1);
    choose(before ? curve.numberOrZero(before, "position") : 0);
  };
  return (
    <Chart
      label={joinSentences(t("Memory over the program's schedule."), headline)}
      height={240}
      build={build}
      onColumn={pick}
    />
  );
}

/** Where a row stands on the axis, and what the axis is called. */
function curveAxis(curve: Table, timed: boolean) {
  if (!timed) return { at: (row: Row) => curve.numberOrZero(row, "position"), title: t("Position in the schedule") };
  const { factor, unit } = timeScale(largest(curve.rows.map((row) => curve.numberOrZero(row, "time_us"))), "us");
  return {
    at: (row: Row) => curve.numberOrZero(row, "time_us") * factor,
    title: t("Time in the program's run, {unit}", { unit }),
  };
}

interface CurveParts extends Omit<CurveProps, "choose" | "headline"> {
  readonly palette: Palette;
}

function curveOption({ curve, peakPosition, shownPosition, isByTime, palette }: CurveParts) {
  const { at, title } = curveAxis(curve, isByTime);
  const axisValueAt = (position: number) =>
    at(curve.rows.filter((row) => curve.numberOrZero(row, "position") <= position).at(-1) ?? []);
  const scale = memoryScale(largest(curve.rows.map((row) => curve.numberOrZero(row, "bytes"))));
  return {
    animation: false,
    textStyle: textStyle(palette),
    // The map below has the same margins.
    grid: { left: 56, right: 16, top: 28, bottom: 44 },
    tooltip: {
      ...tooltip(palette),
      trigger: "axis" as const,
      formatter: (items: unknown) => {
        const row = curve.rows[(items as { dataIndex: number }[])[0]?.dataIndex ?? -1] ?? [];
        const name = curve.text(row, "instruction") || t("end");
        return `<b>${escapeHtml(name)}</b>${tooltipRow(palette.accent, t("In use"), formatMemory(curve.numberOrZero(row, "bytes")))}`;
      },
    },
    xAxis: {
      ...axis(palette, title),
      type: "value" as const,
      nameLocation: "middle" as const,
      nameGap: 26,
      ...(isByTime ? {} : { max: "dataMax" as const }),
    },
    yAxis: { ...axis(palette, scale.unit, "right"), type: "value" as const },
    series: [
      {
        type: "line" as const,
        step: "end" as const,
        showSymbol: false,
        lineStyle: { color: palette.accent, width: 1.5 },
        areaStyle: { color: palette.accent, opacity: 0.2 },
        data: curve.rows.map((row) => [at(row), curve.numberOrZero(row, "bytes") * scale.factor]),
        markLine: {
          silent: true,
          symbol: "none",
          lineStyle: { color: palette.quiet },
          label: { formatter: "peak", color: palette.quiet },
          data: [
            { xAxis: axisValueAt(peakPosition) },
            ...(shownPosition === peakPosition
              ? []
              : [{ xAxis: axisValueAt(shownPosition), label: { formatter: "shown", color: palette.quiet } }]),
          ],
        },
      },
    ],
  };
}

const MAP_HEIGHT_PX = 260;
/** Boxes that have no room for their name show it to the pointer. */
const LOWEST_NAMED_PX = 18;
const NARROWEST_NAMED_SHARE = 0.06;

/** A temporary value: from position to position, px from the top. */
interface MapBox {
  readonly name: string;
  readonly size: number;
  readonly begin: number;
  readonly end: number;
  readonly top: number;
  readonly height: number;
  /** Positions. */
  readonly width: number;
}

interface MapProps {
  readonly blocks: Table;
  readonly positions: number;
  /** The position of which the tables tell. */
  readonly shown: number;
  readonly dark: boolean;
}

/** Each temporary as a box: from when to when, and where in memory. */
export function AllocationMap({ blocks, positions, shown, dark }: MapProps) {
  const endsBytes = blocks.rows.map((row) => {
    const [offset, size] = [blocks.numberOrZero(row, "offset"), blocks.numberOrZero(row, "bytes")];
    return offset + size;
  });
  const topBytes = largest(endsBytes) || 1;
  const lastPosition = Math.max(positions - 1, 1);
  const boxes = blocks.rows.map((row): MapBox => {
    const [begin, end] = [blocks.numberOrZero(row, "begin"), blocks.numberOrZero(row, "end")];
    const [offset, size] = [blocks.numberOrZero(row, "offset"), blocks.numberOrZero(row, "bytes")];
    const height = (size / topBytes) * MAP_HEIGHT_PX;
    const top = MAP_HEIGHT_PX - (offset / topBytes) * MAP_HEIGHT_PX - height;
    const name = blocks.text(row, "name");
    return { name, size, begin, end, top, height, width: Math.max(end - begin, 0.2) };
  });
  const percentOf = (positions: number) => `${(positions / lastPosition) * 100}%`;
  return (
    <div class="allocation-map">
      <svg viewBox={`0 0 ${lastPosition} ${MAP_HEIGHT_PX}`} preserveAspectRatio="none" role="img">
        <title>{t("Places of the temporaries over the schedule")}</title>
        {boxes.map(({ name, size, begin, end, top, height, width }, place) => (
          <rect
            key={place}
            x={begin}
            width={width}
            y={top}
            height={height}
            fill={nameColour(name, dark)}
            data-tip={t("{name}: {size}, positions {begin} to {end}", { name, size: formatMemory(size), begin, end })}
          />
        ))}
        <line x1={shown} x2={shown} y1={0} y2={MAP_HEIGHT_PX} />
      </svg>
      {/* Beside the picture, which is stretched. */}
      {boxes
        .filter(({ height, width }) => height >= LOWEST_NAMED_PX && width >= NARROWEST_NAMED_SHARE * lastPosition)
        .map(({ name, begin, top, width }, place) => (
          <span
            key={place}
            aria-hidden="true"
            style={{ left: percentOf(begin), top: `${top}px`, maxWidth: `calc(${percentOf(width)} - 4px)` }}
          >
            {name}
          </span>
        ))}
    </div>
  );
}
