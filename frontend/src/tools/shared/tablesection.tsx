/** A table of the answer in a section of its own. */

import type { ComponentChildren } from "preact";
import { Grid, type GridProps } from "../../view/grid";
import { Section, type SectionProps } from "../../view/section";
import { exportName, type PageProps } from "../page";

interface TableSectionProps
  extends Pick<GridProps, "specs" | "hideEmpty" | "sort" | "onRow" | "link">,
    Pick<SectionProps, "doc" | "note" | "controls"> {
  readonly page: PageProps;
  /** The table's id in the answer. */
  readonly id: string;
  /** What stands below the rows. */
  readonly children?: ComponentChildren;
}

/** Called, and unless `doc` does so explained, as the tool declares it; nothing where it has no rows. */
export function TableSection({ page, id, doc, note, controls, children, ...grid }: TableSectionProps) {
  const table = page.answer.table(id);
  if (!table.rows.length) return null;
  return (
    <Section title={table.label} doc={doc ?? table.doc} note={note} controls={controls}>
      <Grid table={table} hideEmpty name={exportName(page, id)} id={id} {...grid} />
      {children}
    </Section>
  );
}
