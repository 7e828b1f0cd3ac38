/** Reports or digests that somebody opens here as one side, or both: read in the page, compared by the server, kept by neither. */

import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { api } from "../../api/client";
import { digestIn } from "../../base/digest";
import { t } from "../../base/messages";
import { errorProblem } from "../../base/problem";
import type { Problem } from "../../base/schema";
import type { Answer } from "../../base/table";
import type { Options } from "../../state/optionstore";
import { toProblem } from "../../state/resource";
import type { Store } from "../../state/store";
import type { PageProps } from "../page";

interface OpenedFile {
  readonly name: string;
  readonly digest: string;
}

export type CompareSide = "base" | "new";

/** The session that is shown is the side that no file is. */
type FilesBySide = Readonly<Partial<Record<CompareSide, OpenedFile>>>;

/** Null without any. Stays while the page is open, whichever tab is shown; no address can name it. */
export const openedFiles = signal<FilesBySide | null>(null);
const fileProblem = signal<Problem | null>(null);

const MOST_BYTES = 256 << 20;
const REMEDY = t("Open a report or a digest, e.g. a baseline of tb-profile check.");

async function readDigest(file: File): Promise<OpenedFile> {
  if (file.size > MOST_BYTES) throw new Error(t("This file is too large for a report."));
  return { name: file.name, digest: digestIn(await file.text()) };
}

/** Two are the base and the new side; one is the side that is free, the base rather than the new one. */
export async function openFiles(files: readonly File[]): Promise<void> {
  fileProblem.value = null;
  const [first, second] = files;
  let reading = first;
  try {
    if (!first) return;
    const firstFile = await readDigest(first);
    reading = second;
    const before = openedFiles.peek();
    if (second) openedFiles.value = { base: firstFile, new: await readDigest(second) };
    else openedFiles.value = { ...before, [before?.base && !before.new ? "new" : "base"]: firstFile };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    fileProblem.value = errorProblem("bad_file", message, REMEDY, reading?.name);
  }
}

export function swapFiles(store: Store): void {
  const now = openedFiles.peek();
  if (now) openedFiles.value = { ...(now.new && { base: now.new }), ...(now.base && { new: now.base }) };
  store.go({ options: swapItemCounts(store.view.peek().options) });
}

/** What steps work through stays with its side. */
export function swapItemCounts({ base_items = "", new_items = "", ...others }: Options): Options {
  return { ...others, ...(new_items && { base_items: new_items }), ...(base_items && { new_items: base_items }) };
}

export function closeFile(side: CompareSide): void {
  const { [side]: _closed, ...left } = openedFiles.peek() ?? {};
  openedFiles.value = Object.keys(left).length ? left : null;
  fileProblem.value = null;
}

/** Another file can be opened in the place of one that is no digest. */
function closeRefusedFile(problem: Problem): void {
  for (const side of ["base", "new"] as const) if (openedFiles.peek()?.[side]?.name === problem.where) closeFile(side);
  fileProblem.value = problem;
}

export function closeFiles(): void {
  openedFiles.value = fileProblem.value = null;
}

interface Comparison {
  /** Null while it is being worked out, and where there is a problem. */
  readonly answer: Answer | null;
  readonly problem: Problem | null;
}

const NO_COMPARISON = { answer: null, problem: null };

/** What the server says of the files that are open, or else the page's own answer; and what is wrong with a file. */
export function useComparison({ answer, session, store }: PageProps): Comparison {
  const [comparison, setComparison] = useState<Comparison>(NO_COMPARISON);
  const files = openedFiles.value;
  const host = store.host.value;
  const { steps = "", step_event = "", base_items = "", new_items = "" } = store.view.value.options;
  useEffect(() => {
    setComparison(NO_COMPARISON);
    if (!files) return;
    const controller = new AbortController();
    const { base, new: changed } = files;
    const items = { base_items, new_items };
    const oneSideQuery = { run: session.run, host, steps, step_event, ...items, side: base ? "base" : "new" };
    const bothSidesQuery = { ...items, new_name: changed?.name ?? "", side: "both" };
    const first = base ?? changed;
    const body = base && changed ? `[${base.digest},${changed.digest}]` : (first?.digest ?? "");
    const query = { ...(base && changed ? bothSidesQuery : oneSideQuery), name: first?.name ?? "" };
    const request = api.compare(query, body, controller.signal);
    request.then(
      (fileAnswer) => setComparison({ answer: fileAnswer, problem: null }),
      (error: unknown) => {
        if (controller.signal.aborted) return;
        const problem = toProblem(error);
        setComparison({ answer: null, problem });
        if (problem.code === "bad_digest") closeRefusedFile(problem);
      },
    );
    return () => controller.abort();
  }, [files, session.run, session.modified, host, steps, step_event, base_items, new_items]);
  return files
    ? { ...comparison, problem: fileProblem.value ?? comparison.problem }
    : { answer, problem: fileProblem.value };
}
