/** Steps over sessions: a dot each, the levels as lines, and a mark where the history steps. */

import { largest } from "../../base/extent";
import { formatTime } from "../../base/format";
import { t } from "../../base/messages";
import type { Row, Table } from "../../base/table";
import { axisTicks, tickLabel } from "../../canvas/timeaxis";
import { onPlainClick } from "../../view/viewlink";

const HEIGHT_PX = 220;
/** Above and below the dots. */
const EDGE_PX = 16;
/** Between two labels of the axis. */
const LEAST_TICK_PX = 44;

interface HistoryProps {
  readonly table: Table;
  /** The session that the other pages show. */
  readonly shown: string;
  /** Where a click on a session leads. */
  readonly link: (row: Row) => { readonly href: string; readonly go: () => void } | undefined;
}

export function StepHistory({ table, shown, link }: HistoryProps) {
  const { rows } = table;
  const topPs = 1.1 * largest(rows.map((row) => table.numberOrZero(row, "step_ps")));
  const widthPercent = 100 / Math.max(1, rows.length);
  const x = (index: number) => (index + 0.5) * widthPercent;
  const y = (ps: number) => HEIGHT_PX - EDGE_PX - (ps / topPs) * (HEIGHT_PX - 2 * EDGE_PX);
  const { timesPs, stepPs } = axisTicks({ begin: 0, end: topPs }, HEIGHT_PX - 2 * EDGE_PX, LEAST_TICK_PX);
  const ends = [rows[0], rows.at(-1)].map((row) => (row ? table.text(row, "began") : ""));
  return (
    <figure class="history">
      <ol class="quiet" aria-hidden="true">
        {timesPs.map((at) => (
          <li key={at} style={{ top: `${y(at)}px` }}>
            {tickLabel(at, stepPs)}
          </li>
        ))}
      </ol>
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset cannot hold what SVG draws. */}
      <svg height={HEIGHT_PX} role="group" aria-label={t("Step times of {count} sessions", { count: rows.length })}>
        {timesPs.map((at) => (
          <line key={at} class="axis" x2="100%" y1={y(at)} y2={y(at)} />
        ))}
        {rows.map((row, index) => (
          <line
            key={table.text(row, "run")}
            class="level"
            x1={`${x(index) - widthPercent / 2}%`}
            x2={`${x(index) + widthPercent / 2}%`}
            y1={y(table.numberOrZero(row, "level_ps"))}
            y2={y(table.numberOrZero(row, "level_ps"))}
          />
        ))}
        {rows.map((row, index) => (
          <SessionDot
            key={table.text(row, "run")}
            table={table}
            row={row}
            shown={shown}
            link={link}
            xPercent={x(index)}
            yPx={y(table.numberOrZero(row, "step_ps"))}
            leftPercent={x(index) - widthPercent / 2}
          />
        ))}
      </svg>
      <figcaption class="quiet">
        <span>{ends[0]}</span>
        <span>{rows.length > 1 && ends[1]}</span>
      </figcaption>
    </figure>
  );
}

interface DotProps extends HistoryProps {
  readonly row: Row;
  /** Its middle, in percent of the width. */
  readonly xPercent: number;
  readonly yPx: number;
  /** Where its part of the width begins, in percent. */
  readonly leftPercent: number;
}

function SessionDot({ table, row, shown, link, xPercent, yPx, leftPercent }: DotProps) {
  const run = table.text(row, "run");
  const marked = table.cell(row, "marked") === true;
  const to = link(row);
  const length = formatTime(table.numberOrZero(row, "step_ps"), "ps");
  const text = marked ? t("{run}: {length}; level change", { run, length }) : `${run}: ${length}`;
  const dot = (
    <circle class={run === shown ? "chosen" : ""} cx={`${xPercent}%`} cy={yPx} r={run === shown ? 6 : 4}>
      <title>{text}</title>
    </circle>
  );
  return (
    <>
      {marked && (
        <line class="jump" x1={`${leftPercent}%`} x2={`${leftPercent}%`} y1={EDGE_PX / 2} y2={HEIGHT_PX - EDGE_PX} />
      )}
      {to ? (
        <a href={to.href} target="_top" aria-label={text} onClick={onPlainClick(to.go)}>
          {dot}
        </a>
      ) : (
        dot
      )}
    </>
  );
}
