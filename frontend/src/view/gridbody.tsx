/** The rows of a grid that are in sight. */

import { t } from "../base/messages";
import type { Row, Value } from "../base/table";
import { hasSize, type PresentedColumn } from "./gridmodel";
import { PathName } from "./pathname";
import { onPlainClick } from "./viewlink";

/** How a row is marked that only the baseline has. */
const BASELINE_ONLY = "gone";

/** Where a row leads, or what it opens in place. */
export interface RowLink {
  /** None where it leads to no other page. */
  readonly href?: string;
  readonly go: () => void;
}

/** The rows that are chosen, in their order. */
export interface ChosenRows {
  readonly total: number;
  /** Undefined while it is asked for. */
  readonly at: (index: number) => { readonly key: string; readonly row: Row } | undefined;
}

interface CellProps {
  readonly column: PresentedColumn;
  readonly value: Value;
  /** What it says in full, where that is another text. */
  readonly full: Value;
  /** What the cell does when it is the one that stands for its row. */
  readonly action: RowLink | undefined;
}

function Cell({ column, value, full, action }: CellProps) {
  const text = column.show(value);
  const fullText = typeof full === "string" ? full : text;
  if (column.fill) {
    const fill = `${Math.min(100, column.fill(value) * 100).toFixed(1)}%`;
    return (
      <td class="number bar" style={{ "--fill": fill }}>
        {text}
      </td>
    );
  }
  const isDifferent = column.signed && typeof value === "number" && hasSize(text);
  const sign = isDifferent ? (value > 0 ? " more" : " less") : "";
  return (
    <td
      class={column.numeric ? `number${sign}` : undefined}
      title={!column.numeric && (fullText !== text || text.length > 24) ? fullText : undefined}
    >
      {action ? <RowAction {...action} text={text || t("(none)")} /> : <PathName text={text} />}
    </td>
  );
}

/** Makes a row's action reachable by keyboard, and a link one that opens in a new tab as well. */
function RowAction({ href, go, text }: RowLink & { readonly text: string }) {
  const onClick = (event: MouseEvent) => {
    event.stopPropagation();
    onPlainClick(go)(event);
  };
  return href === undefined ? (
    <button type="button" class="bare row-act" onClick={onClick}>
      <PathName text={text} />
    </button>
  ) : (
    <a class="bare row-act" href={href} target="_top" onClick={onClick}>
      <PathName text={text} />
    </a>
  );
}

interface GridBodyProps {
  readonly onRow: ((row: Row) => void) | undefined;
  readonly link: ((row: Row) => RowLink | undefined) | undefined;
  readonly rows: ChosenRows;
  /** Indices of the rows in sight: the first, and the one after the last. */
  readonly from: number;
  readonly to: number;
  /** The visible columns, and the index of each one's cell in a row. */
  readonly columns: readonly { readonly column: PresentedColumn; readonly cellIndex: number }[];
  /** The column whose cells stand for their rows. */
  readonly actionColumn: string | undefined;
  /** Index of the cell that says how a row was found in the baseline; -1 for none. */
  readonly matchIndex: number;
}

export function GridBody({ rows, from, to, columns, actionColumn, matchIndex, onRow, link }: GridBodyProps) {
  return (
    <>
      {Array.from({ length: to - from }, (_, offset) => {
        const index = from + offset;
        const loaded = rows.at(index);
        if (!loaded) return <LoadingRow key={`pending ${index}`} index={index} columns={columns.length} />;
        const { key, row } = loaded;
        // A row that only the baseline has leads nowhere in this session.
        const isInSession = row[matchIndex] !== BASELINE_ONLY;
        const act = isInSession ? (link ? link(row) : onRow && { go: () => onRow(row) }) : undefined;
        return (
          <tr
            key={key}
            aria-rowindex={index + 2}
            class={act ? "clickable" : isInSession ? undefined : BASELINE_ONLY}
            onClick={act && (() => act.go())}
          >
            {columns.map(({ column, cellIndex }) => (
              <Cell
                key={column.id}
                column={column}
                value={row[cellIndex] ?? null}
                full={row[column.full] ?? null}
                action={column.id === actionColumn ? act : undefined}
              />
            ))}
          </tr>
        );
      })}
    </>
  );
}

/** A row that is being asked for. */
function LoadingRow({ index, columns }: { index: number; columns: number }) {
  return (
    <tr aria-rowindex={index + 2} aria-busy="true">
      <td colSpan={columns}>…</td>
    </tr>
  );
}
