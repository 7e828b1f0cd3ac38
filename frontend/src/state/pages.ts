/** The pages of a session in their groups, as tools declare them. */

import { groupBy } from "../base/group";
import type { ToolEntry } from "../base/schema";

/** Stands in the address instead of a tool's name, for the list of pages with nothing to show. */
export const MISSING_PAGES = "not_in_capture";

export interface PageGroup {
  readonly id: string;
  readonly title: string;
  /** Tools with a page of their own that have something to show. */
  readonly pages: readonly ToolEntry[];
  /** Where the group's heading leads: the first of its pages, else the first that tells what it lacks. */
  readonly first: ToolEntry;
}

/** The tool whose page shows the answer of the one of that name, mostly itself; undefined for an unknown name. */
export function pageToolOf(tools: readonly ToolEntry[], name: string): ToolEntry | undefined {
  const tool = tools.find((entry) => entry.name === name);
  return tools.find((entry) => entry.name === tool?.shown_on) ?? tool;
}

/** The groups in the order of their first pages. */
export function groupsOf(tools: readonly ToolEntry[]): PageGroup[] {
  const pageTools = tools.filter((tool) => pageToolOf(tools, tool.name) === tool);
  return [...new Set(pageTools.map(({ group }) => group))].flatMap((id) => {
    const members = pageTools.filter(({ group }) => group === id);
    const pages = members.filter(({ unavailable }) => !unavailable);
    const first = pages[0] ?? members[0];
    return first ? [{ id, title: first.heading, pages, first }] : [];
  });
}

/** Pages with nothing to show, in groups of one reason. */
export function missingByReason(tools: readonly ToolEntry[]): (readonly ToolEntry[])[] {
  const missing = tools.filter((tool) => tool.unavailable && pageToolOf(tools, tool.name) === tool);
  return [...groupBy(missing, (tool) => `${tool.unavailable?.message}\n${tool.unavailable?.remedy}`).values()];
}
