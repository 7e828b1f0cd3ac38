/** The pages of a session in their groups, as tools declare them. */

import type { ToolEntry } from "../api/types";

/** What the address says in a tool's place to show which pages this capture cannot fill. */
export const MISSING = "not_in_capture";

export interface Group {
  readonly id: string;
  readonly title: string;
  /** Tools with a page of their own that have something to show. */
  readonly pages: readonly ToolEntry[];
  /** Where the group's heading leads: the first of its pages, else the first that tells what it lacks. */
  readonly first: ToolEntry;
}

/** The tool on whose page another one's answer stands: mostly itself; undefined for a name of none. */
export function pageOf(tools: readonly ToolEntry[], name: string): ToolEntry | undefined {
  const tool = tools.find((entry) => entry.name === name);
  return tools.find((entry) => entry.name === tool?.shown_on) ?? tool;
}

/** In the order of their first pages. */
export function groupsOf(tools: readonly ToolEntry[]): Group[] {
  const own = tools.filter((tool) => pageOf(tools, tool.name) === tool);
  return [...new Set(own.map(({ group }) => group))].flatMap((id) => {
    const inside = own.filter(({ group }) => group === id);
    const pages = inside.filter(({ unavailable }) => !unavailable);
    const first = pages[0] ?? inside[0];
    return first ? [{ id, title: first.heading, pages, first }] : [];
  });
}

/** Pages with nothing to show, those that lack the same together. */
export function missingFrom(tools: readonly ToolEntry[]): (readonly ToolEntry[])[] {
  const found = new Map<string, ToolEntry[]>();
  for (const tool of tools) {
    if (!tool.unavailable || pageOf(tools, tool.name) !== tool) continue;
    const lacks = `${tool.unavailable.message}\n${tool.unavailable.remedy}`;
    found.set(lacks, [...(found.get(lacks) ?? []), tool]);
  }
  return [...found.values()];
}
