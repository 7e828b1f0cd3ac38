/** The tool's answer for the reader's choices: another memory, a part of the time, another moment. */

import { useEffect, useState } from "preact/hooks";
import { api } from "../../api/client";
import type { Problem } from "../../base/schema";
import type { Answer } from "../../base/table";
import { toProblem } from "../../state/resource";
import type { PageProps } from "../page";

/** The tool's option by the page's name for it in the address. */
const TOOL_OPTION: Readonly<Record<string, string>> = {
  memory: "memory_id",
  from: "begin_ms",
  to: "end_ms",
  at: "at_ms",
};

interface ShownAnswer {
  readonly answer: Answer;
  readonly problem: Problem | null;
}

/** The answer for the view's options; while it is loaded the previous one stays. */
export function useShownAnswer({ answer: first, tool, session, store }: PageProps): ShownAnswer {
  const { options } = store.view.value;
  const params = new Set(tool.params.map((param) => param.name));
  const query: Record<string, string> = Object.fromEntries(
    Object.entries(options).filter(([name, value]) => params.has(name) && value),
  );
  let hasOwn = false;
  for (const [name, option] of Object.entries(TOOL_OPTION)) {
    const value = options[name];
    if (value) {
      query[option] = value;
      hasOwn = true;
    }
  }
  // Without options of this page the store's answer is the one to show.
  const key = hasOwn ? JSON.stringify([session.run, session.modified, store.host.value, query]) : "";
  const [shown, setShown] = useState<ShownAnswer | null>(null);
  useEffect(() => {
    if (!key) {
      setShown(null);
      return;
    }
    const controller = new AbortController();
    api.answer(session.run, tool.name, store.host.peek(), query, controller.signal).then(
      (answer) => setShown({ answer, problem: null }),
      (error: unknown) => !controller.signal.aborted && setShown({ answer: first, problem: toProblem(error) }),
    );
    return () => controller.abort();
  }, [key]);
  return shown ?? { answer: first, problem: null };
}
