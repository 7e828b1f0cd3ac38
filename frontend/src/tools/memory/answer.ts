/** The tool's answer for what the reader looks at: another memory, a part of the time, another moment. */

import { useEffect, useState } from "preact/hooks";
import { api } from "../../api/client";
import type { Problem } from "../../api/types";
import type { Answer } from "../../base/table";
import { toProblem } from "../../state/resource";
import type { PageProps } from "../page";

/** What the page keeps in the URL, and the tool's option for each. */
const OPTIONS: Readonly<Record<string, string>> = { memory: "memory_id", from: "begin_ms", to: "end_ms", at: "at_ms" };

interface Shown {
  readonly answer: Answer;
  readonly problem: Problem | null;
}

/** The answer for the view's options; while it is fetched the one from before stays. */
export function useShown({ answer: first, tool, session, store }: PageProps): Shown {
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
  const [shown, setShown] = useState<Shown | null>(null);
  useEffect(() => {
    if (!key) {
      setShown(null);
      return;
    }
    const controller = new AbortController();
    api.answer(session.run, tool.name, store.host.peek(), wanted, controller.signal).then(
      (answer) => setShown({ answer, problem: null }),
      (error: unknown) => !controller.signal.aborted && setShown({ answer: first, problem: toProblem(error) }),
    );
    return () => controller.abort();
  }, [key]);
  return shown ?? { answer: first, problem: null };
}
