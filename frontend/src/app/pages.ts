/** Finds the page of a tool: a file of its name in `tools/`, or the generic one. */

import type { Page } from "../tools/page";

const FILES = import.meta.glob<{ default: Page }>("../tools/*.tsx");

export async function loadPage(tool: string): Promise<Page> {
  const load = FILES[`../tools/${tool}.tsx`] ?? FILES["../tools/generic.tsx"];
  if (!load) throw new Error("The generic page is missing from the build.");
  return (await load()).default;
}
