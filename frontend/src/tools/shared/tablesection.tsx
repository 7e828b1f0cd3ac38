/** A table of the answer in a section of its own. */

import type { ComponentChildren } from "preact";
import { Grid, type GridProps } from "../../view/grid";
import { Section } from "../../view/section";
import { exportName, type PageProps } from "../page";

interface TableSectionProps extends Pick<GridProps, "specs" | "hideEmpty" | "sort" | "onRow" | "link"> {
  readonly page: PageProps;
  /** The table's id in the answer. */
  readonly id: string;
  readonly note?: string;
  /** What stands below the rows. */
  readonly children?: ComponentChildren;
}

/** Called and explained as the tool declares it; nothing where it has no rows. */
export function TableSection({ page, id, note, children, ...grid }: TableSectionProps) {
  const table = page.answer.table(id);
  if (!table.rows.length) return null;
  return (
    <Section title={table.label} doc={table.doc} note={note}>
      <Grid table={table} hideEmpty name={exportName(page, id)} id={id} {...grid} />
      {children}
    </Section>
  );
}
