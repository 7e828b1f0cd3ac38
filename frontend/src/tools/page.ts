/** What a page of a tool gets; each sibling .tsx file exports one as its default, named like the tool. */

import type { ComponentType } from "preact";
import type { SessionEntry, ToolEntry } from "../base/schema";
import type { Answer } from "../base/table";
import type { Store } from "../state/store";

export interface PageProps {
  readonly answer: Answer;
  readonly tool: ToolEntry;
  readonly session: SessionEntry;
  readonly store: Store;
}

export type Page = ComponentType<PageProps>;

/** Names the files that tables are exported to. */
export function exportName({ session, tool }: PageProps, table: string): string {
  return `${session.run}_${tool.name}_${table}`;
}
