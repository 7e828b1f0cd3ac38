/** A table that sorts, filters, hides columns, exports itself, and stays quick with many rows. */

import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
  type VirtualizerOptions,
} from "@tanstack/virtual-core";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { type GridChoice, readGridChoice, type SortedColumn, writeGridChoice } from "../base/gridcodec";
import { t } from "../base/messages";
import type { Row, Table } from "../base/table";
import { useOptionStore } from "./choices";
import { type ChosenRows, GridBody, type RowLink } from "./gridbody";
import { GridHead } from "./gridhead";
import { ColumnMenu, ExportMenu, FacetMenus } from "./gridmenus";
import {
  applyGridChoice,
  type ColumnSpecs,
  createGridModel,
  type GridModel,
  gridChoiceOf,
  type PresentedColumn,
  type PresentedTable,
  presentTable,
} from "./gridmodel";
import { useLoadedRows, useRowPages } from "./gridrows";
import { ProblemLine } from "./problems";
import { useRedraw } from "./useredraw";

const ROW_PX = 24;
/** Fewer rows than this are simply all drawn. */
const VIRTUAL_FROM_ROWS = 80;

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
  readonly onRow?: (row: Row) => void;
  /** Where a row leads, or what it opens in place; takes the place of `onRow`. */
  readonly link?: (row: Row) => RowLink | undefined;
}

const UNSORTED: readonly SortedColumn[] = [];

/** The table's model, equal to what the address says about it, also after Back and Forward. */
function useGridModel(presented: PresentedTable, id: string | undefined, usual: readonly SortedColumn[]): GridModel {
  const optionStore = useOptionStore(id !== undefined);
  const name = id ?? "";
  const ids = presented.columns.map((column) => column.id);
  const choice = readGridChoice(optionStore.options.value, name, ids, usual);
  const model = useMemo(() => {
    const newModel = createGridModel(presented, [...usual]);
    applyGridChoice(newModel, presented, choice);
    return newModel;
  }, [presented]);
  const redraw = useRedraw();
  const isApplying = useRef(false);
  const choiceKey = JSON.stringify(choice);
  useLayoutEffect(() => {
    if (JSON.stringify(gridChoiceOf(model, presented)) === choiceKey) return;
    isApplying.current = true;
    applyGridChoice(model, presented, choice);
    isApplying.current = false;
  }, [model, choiceKey]);
  useEffect(() => {
    const { unsubscribe } = model.store.subscribe(() => {
      redraw();
      if (isApplying.current) return;
      const options = optionStore.options.peek();
      const [addressChoice, modelChoice] = [readGridChoice(options, name, ids, usual), gridChoiceOf(model, presented)];
      if (JSON.stringify(addressChoice) === JSON.stringify(modelChoice)) return;
      // Other rows are a step to come back from; typing and sorting would fill the history.
      const step = JSON.stringify(addressChoice.only) !== JSON.stringify(modelChoice.only);
      optionStore.write(writeGridChoice(options, name, modelChoice, usual), step);
    });
    return unsubscribe;
  }, [model]);
  return model;
}

/** Text is cut rather than pushing the figures out of sight; columns with the longest ones share what is left over. */
function fixedWidthPx(column: PresentedColumn): number {
  return Math.min(column.widthPx, column.numeric ? 130 : 200);
}

/** The chosen rows in their order, and the part of them that is in sight. */
function useChosenRows(
  table: Table,
  model: GridModel,
  choice: GridChoice,
  scroller: { current: HTMLDivElement | null },
) {
  const pages = useRowPages(table, choice);
  const lastTotal = useRef(table.total);
  lastTotal.current = pages.total ?? lastTotal.current;
  const localRows = table.rest ? null : model.getRowModel().rows;
  const rows: ChosenRows = {
    total: localRows ? localRows.length : lastTotal.current,
    at: (index) => {
      const row = localRows ? localRows[index]?.original : pages.at(index);
      return row && { key: localRows?.[index]?.id ?? `${index}`, row };
    },
  };
  const window = useVirtualRows(rows.total, scroller);
  useLoadedRows(pages, table, choice, window);
  return { rows, window, problem: pages.problem };
}

function useVirtualRows(total: number, element: { current: HTMLDivElement | null }) {
  const redraw = useRedraw();
  const options: VirtualizerOptions<HTMLDivElement, HTMLTableRowElement> = {
    count: total,
    getScrollElement: () => element.current,
    estimateSize: () => ROW_PX,
    overscan: 12,
    scrollToFn: elementScroll,
    observeElementRect,
    observeElementOffset,
    onChange: redraw,
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

export function Grid({ table, specs, hideEmpty, name, id, sort = UNSORTED, onRow, link }: GridProps) {
  const presented = useMemo(() => presentTable(table, specs, hideEmpty), [table, specs, hideEmpty]);
  const model = useGridModel(presented, id, sort);
  const scroller = useRef<HTMLDivElement>(null);
  const choice = gridChoiceOf(model, presented);
  const { rows, window, problem } = useChosenRows(table, model, choice, scroller);
  const hidden = model.store.state.columnVisibility;
  const columns = presented.columns
    .map((column, cellIndex) => ({ column, cellIndex }))
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
          <GridHead model={model} columns={visibleColumns} />
          <tbody>
            {window.above > 0 && <tr class="spacer" style={{ height: `${window.above}px` }} />}
            <GridBody
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
