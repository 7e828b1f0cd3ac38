/** Workers against what their step goes into, the late ones first; of hundreds of them a heat map. */

import { largest, smallest } from "../../base/extent";
import { formatTime } from "../../base/format";
import { t } from "../../base/messages";
import type { Row, Table } from "../../base/table";
import { Grid } from "../../view/grid";
import { Section } from "../../view/section";
import { unusedPartColumns, usedPartIds } from "../steps/stepparts";

/** More rows than this are drawn as a heat map. */
const MOST_TABLE_ROWS = 64;
const WAIT_COLUMNS = ["caused_ms", "waited_ms"] as const;
/** How dark the darkest cell is: text on it stays readable. */
const DARKEST_PERCENT = 36;

interface MatrixProps {
  readonly matrix: Table;
  readonly step: string;
  /** Which worker the others are compared with. */
  readonly chosen: string;
  readonly choose: (worker: string) => void;
  readonly name: string;
}

type ShadeOf = (row: Row, id: string) => number;

/** Of the longest step: differences between workers below it are no more than a tint. */
const NOTABLE_SHARE = 0.05;

/** How far a cell lies above the least of its column, of the largest such distance: columns in which all are alike stay blank. */
function shadeFunction(matrix: Table, ids: readonly string[]): ShadeOf {
  const least = new Map(ids.map((id) => [id, smallest(matrix.rows.map((row) => matrix.numberOrZero(row, id)))]));
  const above = (row: Row, id: string) => matrix.numberOrZero(row, id) - (least.get(id) ?? 0);
  const notable = NOTABLE_SHARE * largest(matrix.rows.map((row) => matrix.numberOrZero(row, "total_ms")));
  const most = largest([notable, ...matrix.rows.flatMap((row) => ids.map((id) => above(row, id)))]) || 1;
  return (row, id) => above(row, id) / most;
}

/** What is known of waits; nothing where workers do not communicate with one another. */
function knownWaits(matrix: Table): readonly string[] {
  return WAIT_COLUMNS.filter((id) => matrix.rows.some((row) => matrix.number(row, id) !== null));
}

function shadeColour(share: number): string {
  return `color-mix(in srgb, var(--accent) ${Math.round(DARKEST_PERCENT * share)}%, transparent)`;
}

function MatrixTable({
  matrix,
  chosen,
  choose,
  parts,
  shade,
}: MatrixProps & { parts: readonly string[]; shade: ShadeOf }) {
  const waits = knownWaits(matrix);
  const ids = [...waits, "total_ms", ...parts];
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the scroll area must be reachable by keyboard
    <div class="scroller" tabIndex={0}>
      <table class="worker-matrix">
        <thead>
          <tr>
            <th scope="col">{matrix.column("worker")?.label}</th>
            {ids.map((id) => (
              <th key={id} scope="col" class="number" data-tip={matrix.column(id)?.doc}>
                {matrix.column(id)?.label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {matrix.rows.map((row) => (
            <tr key={matrix.text(row, "worker")} class={matrix.text(row, "worker") === chosen ? "chosen" : undefined}>
              <th scope="row">
                <button
                  type="button"
                  class="bare"
                  data-tip={t("Compare this worker with another one")}
                  onClick={() => choose(matrix.text(row, "worker"))}
                >
                  {matrix.text(row, "worker")}
                </button>
              </th>
              {ids.map((id) => (
                <td
                  key={id}
                  class="number"
                  style={parts.includes(id) ? { background: shadeColour(shade(row, id)) } : undefined}
                >
                  {matrix.formatCell(row, id, (ms) => formatTime(ms))}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** One thin stripe per worker, its parts side by side. */
function HeatMap({ matrix, choose, parts, shade }: MatrixProps & { parts: readonly string[]; shade: ShadeOf }) {
  const width = 100 / parts.length;
  const stripe = (row: Row) =>
    parts.map((id, index) => `${shadeColour(shade(row, id))} ${index * width}% ${(index + 1) * width}%`).join(", ");
  const tip = (row: Row) =>
    [
      matrix.text(row, "worker"),
      ...parts
        .map((id) => matrix.formatCell(row, id, (ms) => `${matrix.column(id)?.label} ${formatTime(ms)}`))
        .filter(Boolean),
    ].join(" · ");
  const label = t("{count} workers by what their step goes into, late ones first", { count: matrix.rows.length });
  return (
    <div class="worker-heat" role="img" aria-label={label}>
      <div class="heads" aria-hidden="true">
        {parts.map((id) => (
          <span key={id} class="cut">
            {matrix.column(id)?.label}
          </span>
        ))}
      </div>
      <div class="stripes">
        {matrix.rows.map((row) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: rows of the table below do the same
          <div
            key={matrix.text(row, "worker")}
            style={{ backgroundImage: `linear-gradient(to right, ${stripe(row)})` }}
            data-tip={tip(row)}
            onClick={() => choose(matrix.text(row, "worker"))}
          />
        ))}
      </div>
    </div>
  );
}

export function WorkerMatrix(props: MatrixProps) {
  const { matrix, step, choose, name } = props;
  if (matrix.rows.length < 2) return null;
  const parts = usedPartIds(matrix).map((id) => `${id}_ms`);
  const more = { ...props, parts, shade: shadeFunction(matrix, parts) };
  const isLarge = matrix.rows.length > MOST_TABLE_ROWS;
  return (
    <Section
      title={knownWaits(matrix).length ? matrix.label : t("Workers")}
      doc={matrix.doc}
      note={t("{step}; the darker a cell, the more above the shortest worker", { step })}
    >
      {isLarge ? <HeatMap {...more} /> : <MatrixTable {...more} />}
      {isLarge && (
        <Grid
          table={matrix.withoutColumns(unusedPartColumns(matrix))}
          hideEmpty
          name={name}
          id="matrix"
          onRow={(row) => choose(matrix.text(row, "worker"))}
        />
      )}
    </Section>
  );
}
