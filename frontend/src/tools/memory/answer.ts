/** The tool's tables for what the reader looks at: another memory, a part of the time, another moment. */

import { useEffect, useMemo, useState } from "preact/hooks";
import { api } from "../../api/client";
import type { Problem } from "../../api/types";
import { isRawTable, Table } from "../../base/datatable";
import { toProblem } from "../../state/resource";
import type { PageProps } from "../page";

export interface Tables {
  readonly summary: Table;
  readonly timeline: Table;
  readonly breakdown: Table;
  readonly steps: Table;
  readonly growth: Table;
}

/** What the page keeps in the URL, and the tool's option for each. */
const OPTIONS: Readonly<Record<string, string>> = { memory: "memory_id", from: "begin_ms", to: "end_ms", at: "at_ms" };

export function tablesIn(answer: unknown): Tables {
  const parts = (answer as { tables?: Record<string, unknown> } | null)?.tables ?? {};
  const table = (name: string) => {
    const part = parts[name];
    return new Table(isRawTable(part) ? part : {});
  };
  return {
    summary: table("summary"),
    timeline: table("timeline"),
    breakdown: table("breakdown"),
    steps: table("steps"),
    growth: table("growth"),
  };
}

/** The tables for the view's options; while they are fetched those from before stay. */
export function useTables({ data, tool, session, store }: PageProps): {
  tables: Tables;
  problem: Problem | null;
} {
  const { options } = store.view.value;
  const taken = new Set(tool.params.map((param) => param.name));
  const wanted: Record<string, string> = Object.fromEntries(
    Object.entries(options).filter(([name, value]) => taken.has(name) && value),
  );
  let own = false;
  for (const [name, option] of Object.entries(OPTIONS)) {
    const value = options[name];
    if (value) {
      wanted[option] = value;
      own = true;
    }
  }
  const key = own ? JSON.stringify([session.run, session.modified, store.host.value, wanted]) : "";
  const [answer, setAnswer] = useState<{ data: unknown; problem: Problem | null } | null>(null);
  useEffect(() => {
    if (!key) {
      setAnswer(null);
      return;
    }
    const controller = new AbortController();
    api.data(session.run, tool.name, store.host.peek(), wanted, controller.signal).then(
      (found) => setAnswer({ data: found, problem: null }),
      (error: unknown) => !controller.signal.aborted && setAnswer({ data, problem: toProblem(error) }),
    );
    return () => controller.abort();
  }, [key]);
  const chosen = answer?.data ?? data;
  const tables = useMemo(() => tablesIn(chosen), [chosen]);
  return { tables, problem: answer?.problem ?? null };
}
