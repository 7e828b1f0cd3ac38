/** Pies of the largest shares, with their names and figures beside them; the rest is one grey slice. */

import { useCallback, useMemo } from "preact/hooks";
import { percent, time } from "../base/format";
import { colourOf } from "../base/hue";
import type { Table } from "../base/table";
import { Chart } from "./chart";
import { escapeHtml, textStyle, tooltip } from "./chartparts";
import type { Palette } from "./palette";

export interface Share {
  readonly name: string;
  /** In microseconds. */
  readonly value: number;
  /** Of the table beside it, the column that holds the name; "" for its first one, undefined for none. */
  readonly column?: string | undefined;
}

/** From here on it is the rest. */
const SLICES = 8;

function colour(share: Share, place: number, dark: boolean): string {
  return place >= SLICES ? (dark ? "#6d7480" : "#a3a9b2") : colourOf(share.name, dark);
}

function sumOf(shares: readonly Share[]): number {
  return shares.reduce((total, { value }) => total + value, 0);
}

export function pieOption(slices: readonly Share[], palette: Palette) {
  const sum = sumOf(slices);
  return {
    animation: false,
    textStyle: textStyle(palette),
    tooltip: {
      ...tooltip(palette),
      trigger: "item" as const,
      formatter: (item: unknown) => {
        const { name, value } = item as Share;
        return `${escapeHtml(name)}<br><b>${percent(value / sum)}</b> · ${time(value, "us")}`;
      },
    },
    series: [
      {
        type: "pie" as const,
        radius: ["38%", "96%"],
        itemStyle: { borderColor: palette.panel, borderWidth: 0.5 },
        label: { show: false },
        emphasis: { scale: false },
        data: slices.map((share, place) => ({ ...share, itemStyle: { color: colour(share, place, palette.dark) } })),
      },
    ],
  };
}

type Pick = (name: string, column: string) => void;

interface PiesProps {
  readonly shares: Table;
  /** The column of the shares' times. */
  readonly times: string;
  /** What a click on a share's name does. */
  readonly pick: Pick;
}

/** A pie for each division that the column `of` names. */
export function Pies({ shares, times, pick }: PiesProps) {
  const pies = useMemo(
    () =>
      shares.distinct("of").map((of) => {
        const mine = shares.where({ of });
        return {
          of,
          slices: mine.rows.map((row) => ({
            name: mine.text(row, "name"),
            value: mine.length(row, times),
            column: mine.has("column") ? mine.text(row, "column") || undefined : "",
          })),
        };
      }),
    [shares, times],
  );
  return (
    <div class="pies">
      {pies.map(({ of, slices }) => (
        <Pie key={of} title={of} slices={slices} pick={pick} />
      ))}
    </div>
  );
}

interface PieProps {
  readonly title: string;
  readonly slices: readonly Share[];
  readonly pick: Pick;
}

function Pie({ title, slices, pick }: PieProps) {
  const sum = sumOf(slices);
  const build = useCallback((palette: Palette) => pieOption(slices, palette), [slices]);
  return (
    <figure class="pie">
      <figcaption>{title}</figcaption>
      <Chart label={`${title}: shares of ${time(sum, "us")}`} height={132} build={build} />
      <PieLegend slices={slices} sum={sum} pick={pick} />
    </figure>
  );
}

interface LegendProps {
  readonly slices: readonly Share[];
  readonly sum: number;
  readonly pick: Pick;
}

function PieLegend({ slices, sum, pick }: LegendProps) {
  return (
    <ol>
      {slices.map((share, place) => (
        <li key={share.name} data-tip={`${share.name}: ${time(share.value, "us")}`}>
          <i
            class="swatch both"
            style={{ "--on-light": colour(share, place, false), "--on-dark": colour(share, place, true) }}
          />
          {share.column !== undefined && place < SLICES ? (
            <button type="button" class="pick" onClick={() => pick(share.name, share.column ?? "")}>
              {share.name}
            </button>
          ) : (
            <span>{share.name}</span>
          )}
          <span class="number quiet">{time(share.value, "us")}</span>
          <span class="number">{percent(share.value / sum)}</span>
        </li>
      ))}
    </ol>
  );
}
