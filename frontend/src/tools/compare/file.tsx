/** A report or a digest that somebody opens here as one side: read in the page, compared by the server, kept by neither. */

import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { api } from "../../api/client";
import type { Problem } from "../../api/types";
import { digestIn } from "../../base/digest";
import type { Answer } from "../../base/table";
import type { Options } from "../../state/keeper";
import { toProblem } from "../../state/resource";
import type { Store } from "../../state/store";
import type { PageProps } from "../page";

interface Opened {
  readonly name: string;
  readonly digest: string;
  readonly side: "base" | "new";
}

/** Stays while the page is open, whichever tab is shown; no address can name it. */
export const opened = signal<Opened | null>(null);
const unread = signal<Problem | null>(null);

const MOST_BYTES = 256 << 20;
const REMEDY = "Open a report of tb-profile report, or a digest, such as a baseline of tb-profile check.";

function refused(message: string, where: string): void {
  unread.value = { code: "bad_file", message, remedy: REMEDY, where, severity: "error" };
}

export async function openFile(file: File): Promise<void> {
  unread.value = null;
  if (file.size > MOST_BYTES) return refused("This file is too large for a report.", file.name);
  try {
    opened.value = { name: file.name, digest: digestIn(await file.text()), side: "base" };
  } catch (error) {
    refused(error instanceof Error ? error.message : String(error), file.name);
  }
}

export function swapFile(store: Store): void {
  const now = opened.peek();
  if (now) opened.value = { ...now, side: now.side === "base" ? "new" : "base" };
  store.go({ options: swapItems(store.view.peek().options) });
}

/** What steps work through stays with its side. */
export function swapItems({ base_items = "", new_items = "", ...others }: Options): Options {
  return { ...others, ...(new_items && { base_items: new_items }), ...(base_items && { new_items: base_items }) };
}

export function closeFile(): void {
  opened.value = unread.value = null;
}

interface Comparison {
  /** Null while it is being worked out, and where there is a problem. */
  readonly answer: Answer | null;
  readonly problem: Problem | null;
}

const NOTHING = { answer: null, problem: null };

/** What the server says of the file that is open, or else the page's own answer; and what is wrong with a file. */
export function useComparison({ answer, session, store }: PageProps): Comparison {
  const [found, setFound] = useState<Comparison>(NOTHING);
  const file = opened.value;
  const host = store.host.value;
  const { steps = "", step_event = "", base_items = "", new_items = "" } = store.view.value.options;
  useEffect(() => {
    setFound(NOTHING);
    if (!file) return;
    const controller = new AbortController();
    const choices = { host, steps, step_event, base_items, new_items };
    const query = { run: session.run, ...choices, name: file.name, side: file.side };
    api.compare(query, file.digest, controller.signal).then(
      (told) => setFound({ answer: told, problem: null }),
      (error: unknown) => {
        if (!controller.signal.aborted) setFound({ answer: null, problem: toProblem(error) });
      },
    );
    return () => controller.abort();
  }, [file, session.run, session.modified, host, steps, step_event, base_items, new_items]);
  return file ? { ...found, problem: unread.value ?? found.problem } : { answer, problem: unread.value };
}
