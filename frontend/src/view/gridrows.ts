/** The rows of a long table, of which the answer holds only the first: the server is asked for others as they show. */

import { useEffect, useMemo } from "preact/hooks";
import type { GridChoice } from "../base/gridcodec";
import type { Problem } from "../base/schema";
import type { Row, Table } from "../base/table";
import { toProblem } from "../state/resource";
import { useRedraw } from "./useredraw";

const ROWS_PER_PAGE = 250;
/** Pages in memory; further ones take the place of the oldest. */
const MOST_PAGES = 16;
/** The server is asked after a pause of so long: while the reader types or scrolls on, other rows are wanted soon. */
const PAUSE_MS = 80;

/** The rows that a choice selects, page by page. */
class RowPages {
  private readonly loaded = new Map<number, readonly Row[]>();
  /** How many rows the choice selects; null while unknown. */
  total: number | null = null;
  problem: Problem | null = null;

  /** Begins with the answer's rows where the choice selects all rows in the table's order. */
  constructor(table: Table, choice: GridChoice) {
    if (!table.rest || choice.sort.length || choice.find || Object.keys(choice.only).length) return;
    this.total = table.total;
    this.put(0, table.rows.slice(0, table.rows.length - (table.rows.length % ROWS_PER_PAGE)));
  }

  /** Adds rows from the page `first` on. */
  put(first: number, rows: readonly Row[]): void {
    for (let begin = 0; begin < rows.length; begin += ROWS_PER_PAGE) {
      this.loaded.set(first + begin / ROWS_PER_PAGE, rows.slice(begin, begin + ROWS_PER_PAGE));
    }
    for (const page of this.loaded.keys()) {
      if (this.loaded.size > MOST_PAGES) this.loaded.delete(page);
    }
  }

  at(index: number): Row | undefined {
    return this.loaded.get(Math.floor(index / ROWS_PER_PAGE))?.[index % ROWS_PER_PAGE];
  }

  /** The first and the last page that must be loaded to show these rows; null where none must. */
  missing(from: number, to: number): readonly [number, number] | null {
    const [first, last] = [Math.floor(from / ROWS_PER_PAGE), Math.floor(Math.max(from, to - 1) / ROWS_PER_PAGE)];
    const shown = Array.from({ length: last - first + 1 }, (_, page) => first + page);
    const missing = shown.filter((page) => !this.loaded.has(page));
    return missing.length ? [missing[0] ?? 0, missing.at(-1) ?? 0] : null;
  }
}

/** The pages of a choice, kept as long as table and choice stay the same. */
export function useRowPages(table: Table, choice: GridChoice): RowPages {
  const code = JSON.stringify([choice.sort, choice.find, choice.only]);
  return useMemo(() => new RowPages(table, choice), [table, code]);
}

/** Loads the rows that are shown and missing, once the reader pauses. */
export function useLoadedRows(
  pages: RowPages,
  table: Table,
  choice: GridChoice,
  { from, to }: { from: number; to: number },
): void {
  const redraw = useRedraw();
  const missing = table.rest ? pages.missing(from, to) : null;
  useEffect(() => {
    if (!missing) return;
    const [first, last] = missing;
    const controller = new AbortController();
    const load = async () => {
      try {
        const count = (last - first + 1) * ROWS_PER_PAGE;
        const more = await table.loadRows(choice, first * ROWS_PER_PAGE, count, controller.signal);
        pages.put(first, more?.rows ?? []);
        pages.total = more?.total ?? null;
        pages.problem = null;
      } catch (error) {
        if (controller.signal.aborted) return;
        pages.problem = toProblem(error);
      }
      redraw();
    };
    const timer = setTimeout(load, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [pages, missing?.join()]);
}
