/** A table that sorts, filters, hides columns, exports itself, and stays quick with many rows. */

import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
  type VirtualizerOptions,
} from "@tanstack/virtual-core";
import { useEffect, useLayoutEffect, useMemo, useReducer, useRef } from "preact/hooks";
import { type GridChoice, readChoice, type SortedColumn, writeChoice } from "../base/gridcodec";
import { joinSentences, t } from "../base/messages";
import type { Row, Table, Value } from "../base/table";
import { breakableParts } from "../base/text";
import { useOptionStore } from "./choices";
import { Doubt, useDoubt } from "./doubt";
import { ColumnMenu, ExportMenu, FacetMenus } from "./gridmenus";
import {
  applyChoice,
  type ColumnSpecs,
  choiceOf,
  type GridModel,
  gridModel,
  type PresentedColumn,
  type PresentedTable,
  presentTable,
} from "./gridmodel";
import { useLoadedRows, usePages } from "./gridrows";
import { PathName } from "./pathname";
import { onPlainClick } from "./plainclick";
import { ProblemLine } from "./problems";

const ROW_PX = 24;
/** Fewer rows than this are simply all drawn. */
const VIRTUAL_FROM_ROWS = 80;
/** How a row is marked that only the baseline has. */
const BASELINE_ONLY = "gone";

export interface GridProps {
  readonly table: Table;
  readonly specs?: ColumnSpecs;
  /** Hides columns in which nothing is known. */
  readonly hideEmpty?: boolean;
  /** Names the exported files. */
  readonly name: string;
  /** Short and unique on its page: under it the address keeps how the table is sorted and filtered. */
  readonly id?: string;
  /** How it is sorted until the reader sorts it. */
  readonly sort?: readonly SortedColumn[];
  readonly onRow?: (row: readonly Value[]) => void;
  /** Where a row leads, or what it opens in place; takes the place of `onRow`. */
  readonly link?: (row: readonly Value[]) => RowLink | undefined;
}

/** Where a row leads, or what it opens in place. */
export interface RowLink {
  /** None where it leads to no other page. */
  readonly href?: string;
  readonly go: () => void;
}

const UNSORTED: readonly SortedColumn[] = [];

/** The table's model, equal to what the address says about it, also after Back and Forward. */
function useGridModel(presented: PresentedTable, id: string | undefined, usual: readonly SortedColumn[]): GridModel {
  const keeper = useOptionStore(id !== undefined);
  const name = id ?? "";
  const ids = presented.columns.map((column) => column.id);
  const choice = readChoice(keeper.options.value, name, ids, usual);
  const model = useMemo(() => {
    const newModel = gridModel(presented, [...usual]);
    applyChoice(newModel, presented, choice);
    return newModel;
  }, [presented]);
  const [, draw] = useReducer((turn: number) => turn + 1, 0);
  const isApplying = useRef(false);
  const choiceKey = JSON.stringify(choice);
  useLayoutEffect(() => {
    if (JSON.stringify(choiceOf(model, presented)) === choiceKey) return;
    isApplying.current = true;
    applyChoice(model, presented, choice);
    isApplying.current = false;
  }, [model, choiceKey]);
  useEffect(() => {
    const { unsubscribe } = model.store.subscribe(() => {
      draw(undefined);
      if (isApplying.current) return;
      const options = keeper.options.peek();
      const [addressChoice, modelChoice] = [readChoice(options, name, ids, usual), choiceOf(model, presented)];
      if (JSON.stringify(addressChoice) === JSON.stringify(modelChoice)) return;
      // Other rows are a step to come back from; typing and sorting would fill the history.
      const step = JSON.stringify(addressChoice.only) !== JSON.stringify(modelChoice.only);
      keeper.write(writeChoice(options, name, modelChoice, usual), step);
    });
    return unsubscribe;
  }, [model]);
  return model;
}

/** Text is cut rather than pushing the figures out of sight; columns with the longest ones share what is left over. */
function fixedWidthPx(column: PresentedColumn): number {
  return Math.min(column.widthPx, column.numeric ? 130 : 200);
}

interface ChosenRows {
  readonly total: number;
  /** Undefined while it is asked for. */
  readonly at: (place: number) => { readonly key: string; readonly row: Row } | undefined;
}

/** The chosen rows in their order, and the part of them that is in sight. */
function useChosenRows(
  table: Table,
  model: GridModel,
  choice: GridChoice,
  scroller: { current: HTMLDivElement | null },
) {
  const pages = usePages(table, choice);
  const lastTotal = useRef(table.total);
  lastTotal.current = pages.total ?? lastTotal.current;
  const localRows = table.rest ? null : model.getRowModel().rows;
  const rows: ChosenRows = {
    total: localRows ? localRows.length : lastTotal.current,
    at: (place) => {
      const row = localRows ? localRows[place]?.original : pages.at(place);
      return row && { key: localRows?.[place]?.id ?? `${place}`, row };
    },
  };
  const window = useVirtualRows(rows.total, scroller);
  useLoadedRows(pages, table, choice, window.from, window.to);
  return { rows, window, problem: pages.problem };
}

function useVirtualRows(total: number, element: { current: HTMLDivElement | null }) {
  const [, draw] = useReducer((turn: number) => turn + 1, 0);
  const options: VirtualizerOptions<HTMLDivElement, HTMLTableRowElement> = {
    count: total,
    getScrollElement: () => element.current,
    estimateSize: () => ROW_PX,
    overscan: 12,
    scrollToFn: elementScroll,
    observeElementRect,
    observeElementOffset,
    onChange: () => draw(undefined),
  };
  const virtualizer = useMemo(() => new Virtualizer<HTMLDivElement, HTMLTableRowElement>(options), []);
  virtualizer.setOptions(options);
  useLayoutEffect(() => virtualizer._didMount(), [virtualizer]);
  useLayoutEffect(() => virtualizer._willUpdate());
  if (total < VIRTUAL_FROM_ROWS) return { from: 0, to: total, above: 0, below: 0 };
  const items = virtualizer.getVirtualItems();
  const from = items[0]?.index ?? 0;
  const to = (items.at(-1)?.index ?? Math.min(total, 40) - 1) + 1;
  return { from, to, above: from * ROW_PX, below: (total - to) * ROW_PX };
}

interface HeadProps {
  readonly column: PresentedColumn;
  readonly sorted: false | "asc" | "desc" | undefined;
  readonly toggle: (several: boolean) => void;
}

function HeadButton({ column, sorted, toggle }: HeadProps) {
  const tip = joinSentences(column.doc, useDoubt(column.depends));
  return (
    <button
      type="button"
      class={column.doc ? "explained" : undefined}
      data-tip={tip || undefined}
      onClick={(event) => toggle(event.shiftKey)}
    >
      {breakableParts(column.label).flatMap((phrase) => [phrase, <wbr key={phrase} />])}
      {column.unit && <small> {column.unit}</small>}
      <Doubt depends={column.depends} inButton />
      <span class="direction" aria-hidden="true">
        {sorted === "asc" ? "▲" : sorted === "desc" ? "▼" : ""}
      </span>
    </button>
  );
}

function Head({ model, columns }: { model: GridModel; columns: readonly PresentedColumn[] }) {
  return (
    <thead>
      <tr>
        {columns.map((column) => {
          const sorted = model.getColumn(column.id)?.getIsSorted();
          const direction = sorted === "asc" ? "ascending" : sorted === "desc" ? "descending" : "none";
          return (
            <th key={column.id} class={column.numeric ? "number" : undefined} aria-sort={direction} scope="col">
              <HeadButton
                column={column}
                sorted={sorted}
                toggle={(several) => model.getColumn(column.id)?.toggleSorting(undefined, several)}
              />
            </th>
          );
        })}
      </tr>
    </thead>
  );
}

interface CellProps {
  readonly column: PresentedColumn;
  readonly value: Value;
  /** What it says in full, where that is another text. */
  readonly full: Value;
  /** What the cell does when it is the one that stands for its row. */
  readonly action: { readonly href?: string; readonly go: () => void } | undefined;
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
  const sign = column.signed && typeof value === "number" && value !== 0 ? (value > 0 ? " more" : " less") : "";
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
function RowAction({ href, go, text }: { href?: string; go: () => void; text: string }) {
  const onClick = (event: MouseEvent) => {
    event.stopPropagation();
    onPlainClick(go)(event);
  };
  return href === undefined ? (
    <button type="button" class="row-act" onClick={onClick}>
      <PathName text={text} />
    </button>
  ) : (
    <a class="row-act" href={href} target="_top" onClick={onClick}>
      <PathName text={text} />
    </a>
  );
}

interface BodyProps {
  readonly onRow: GridProps["onRow"];
  readonly link: GridProps["link"];
  readonly rows: ChosenRows;
  readonly from: number;
  readonly to: number;
  readonly columns: readonly { readonly column: PresentedColumn; readonly place: number }[];
  /** The column whose cells stand for their rows. */
  readonly actionColumn: string | undefined;
  /** Where in a row stands how it was found in the baseline; -1 for nowhere. */
  readonly matchIndex: number;
}

function Body({ rows, from, to, columns, actionColumn, matchIndex, onRow, link }: BodyProps) {
  return (
    <>
      {Array.from({ length: to - from }, (_, offset) => {
        const place = from + offset;
        const loaded = rows.at(place);
        if (!loaded) return <LoadingRow key={`pending ${place}`} place={place} columns={columns.length} />;
        const { key, row } = loaded;
        // A row that only the baseline has leads nowhere in this session.
        const isInSession = row[matchIndex] !== BASELINE_ONLY;
        const act = isInSession ? (link ? link(row) : onRow && { go: () => onRow(row) }) : undefined;
        return (
          <tr
            key={key}
            aria-rowindex={place + 2}
            class={act ? "clickable" : isInSession ? undefined : BASELINE_ONLY}
            onClick={act && (() => act.go())}
          >
            {columns.map(({ column, place: at }) => (
              <Cell
                key={column.id}
                column={column}
                value={row[at] ?? null}
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
function LoadingRow({ place, columns }: { place: number; columns: number }) {
  return (
    <tr aria-rowindex={place + 2} aria-busy="true">
      <td colSpan={columns}>…</td>
    </tr>
  );
}

export function Grid({ table, specs, hideEmpty, name, id, sort = UNSORTED, onRow, link }: GridProps) {
  const presented = useMemo(() => presentTable(table, specs, hideEmpty), [table, specs, hideEmpty]);
  const model = useGridModel(presented, id, sort);
  const scroller = useRef<HTMLDivElement>(null);
  const choice = choiceOf(model, presented);
  const { rows, window, problem } = useChosenRows(table, model, choice, scroller);
  const hidden = model.store.state.columnVisibility;
  const columns = presented.columns
    .map((column, place) => ({ column, place }))
    .filter(({ column }) => hidden[column.id] !== false);
  const visibleColumns = columns.map(({ column }) => column);
  const textColumns = visibleColumns.filter((column) => !column.numeric).sort((a, b) => b.widthPx - a.widthPx);
  const flexibleColumns = textColumns.filter(({ widthPx }) => widthPx === textColumns[0]?.widthPx);
  const { total } = table;
  const isFiltered = rows.total !== total;
  return (
    <div class="grid">
      <div class="toolbar">
        {total > 8 && (
          <input
            type="search"
            data-filter
            placeholder={t("Filter rows")}
            aria-label={t("Filter rows")}
            data-tip={t("Shows rows that contain all words. Key: /")}
            value={String(model.store.state.globalFilter ?? "")}
            onInput={(event) => model.setGlobalFilter(event.currentTarget.value || undefined)}
          />
        )}
        <FacetMenus model={model} columns={presented.columns} />
        <span class="quiet">
          {isFiltered
            ? t("{shown} of {count, plural, one {# row} other {# rows}}", { shown: rows.total, count: total })
            : t("{count, plural, one {# row} other {# rows}}", { count: total })}
        </span>
        <span class="spring" />
        {presented.columns.length > 7 && <ColumnMenu model={model} columns={presented.columns} />}
        <ExportMenu name={name} table={table} choice={choice} rows={() => model.getRowModel().rows} />
      </div>
      {problem && <ProblemLine problem={problem} />}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the scroll area must be reachable by keyboard */}
      <div class="scroller" ref={scroller} tabIndex={0}>
        <table
          aria-rowcount={rows.total + 1}
          style={{ minWidth: `${visibleColumns.reduce((sum, column) => sum + fixedWidthPx(column), 0)}px` }}
        >
          <colgroup>
            {visibleColumns.map((column) => (
              <col
                key={column.id}
                style={flexibleColumns.includes(column) ? undefined : { width: `${fixedWidthPx(column)}px` }}
              />
            ))}
          </colgroup>
          <Head model={model} columns={visibleColumns} />
          <tbody>
            {window.above > 0 && <tr class="spacer" style={{ height: `${window.above}px` }} />}
            <Body
              rows={rows}
              from={window.from}
              to={window.to}
              columns={columns}
              actionColumn={flexibleColumns[0]?.id ?? visibleColumns[0]?.id}
              matchIndex={table.columns.findIndex(({ id }) => id === "match")}
              onRow={onRow}
              link={link}
            />
            {window.below > 0 && <tr class="spacer" style={{ height: `${window.below}px` }} />}
          </tbody>
        </table>
        {rows.total === 0 && <p class="nothing">{isFiltered ? t("No matching rows.") : t("No rows.")}</p>}
      </div>
    </div>
  );
}
