/** Steps that are not like the others, and what made each of them so. */

import { Grid } from "../../view/grid";
import { Section } from "../../view/section";
import { exportName, type PageProps } from "../page";

const HIDDEN = { place: { hidden: true }, cause: { hidden: true }, name: { hidden: true } } as const;

export function Unusual({ page }: { page: PageProps }) {
  const table = page.answer.table("unusual");
  if (!table.rows.length) return null;
  return (
    <Section title={table.label} doc={table.doc}>
      <Grid table={table} specs={HIDDEN} name={exportName(page, "unusual")} id="unusual" />
    </Section>
  );
}
