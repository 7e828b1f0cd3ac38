/** The rows of a grid: those of a table that is here, or of the rest of one that is not, asked for as they are shown. */

import { useEffect, useMemo, useReducer } from "preact/hooks";
import type { Problem } from "../api/types";
import type { GridChoice } from "../base/gridcodec";
import type { Row, Table } from "../base/table";
import { toProblem } from "../state/resource";

const PAGE = 250;
/** Pages that are held; scrolling on lets the first ones go. */
const HELD = 16;
/** Who types or scrolls on wants something else. */
const REST_MS = 80;

/** The rows of one choice, page by page. */
class Pages {
  readonly held = new Map<number, readonly Row[]>();
  total: number | null = null;
  problem: Problem | null = null;

  /** With the rows that are here, where they are the first of the choice. */
  constructor(table: Table, choice: GridChoice) {
    if (!table.rest || choice.sort.length || choice.find || Object.keys(choice.only).length) return;
    this.total = table.total;
    this.put(0, table.rows.slice(0, table.rows.length - (table.rows.length % PAGE)));
  }

  put(first: number, rows: readonly Row[]): void {
    for (let begin = 0; begin < rows.length; begin += PAGE) {
      this.held.set(first + begin / PAGE, rows.slice(begin, begin + PAGE));
    }
    for (const page of this.held.keys()) {
      if (this.held.size > HELD) this.held.delete(page);
    }
  }

  at(place: number): Row | undefined {
    return this.held.get(Math.floor(place / PAGE))?.[place % PAGE];
  }

  /** First and last page of those that are lacking for these rows; null where all are here. */
  lacking(from: number, to: number): readonly [number, number] | null {
    const [first, last] = [Math.floor(from / PAGE), Math.floor(Math.max(from, to - 1) / PAGE)];
    const wanted = Array.from({ length: last - first + 1 }, (_, page) => first + page);
    const missing = wanted.filter((page) => !this.held.has(page));
    return missing.length ? [missing[0] ?? 0, missing.at(-1) ?? 0] : null;
  }
}

/** What is held of the rows of a choice. */
export function usePages(table: Table, choice: GridChoice): Pages {
  const code = JSON.stringify([choice.sort, choice.find, choice.only]);
  return useMemo(() => new Pages(table, choice), [table, code]);
}

/** Asks for what is lacking of the rows that are shown, once the reader rests. */
export function useFilled(pages: Pages, table: Table, choice: GridChoice, from: number, to: number): void {
  const [, draw] = useReducer((turn: number) => turn + 1, 0);
  const lacking = table.rest ? pages.lacking(from, to) : null;
  useEffect(() => {
    if (!lacking) return;
    const [first, last] = lacking;
    const controller = new AbortController();
    const ask = async () => {
      try {
        const found = await table.more(choice, first * PAGE, (last - first + 1) * PAGE, controller.signal);
        pages.put(first, found?.rows ?? []);
        pages.total = found?.total ?? null;
        pages.problem = null;
      } catch (error) {
        if (controller.signal.aborted) return;
        pages.problem = toProblem(error);
      }
      draw(undefined);
    };
    const timer = setTimeout(ask, REST_MS);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [pages, lacking?.join()]);
}
