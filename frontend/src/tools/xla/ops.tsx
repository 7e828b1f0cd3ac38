/** XLA's ops as a grid: the same on every page that lists them. */

import { eventsOf } from "../../state/links";
import { Grid } from "../../view/grid";
import type { ColumnSpec } from "../../view/gridmodel";
import { Section } from "../../view/section";
import { exportName, type PageProps } from "../page";

const SPECS: Readonly<Record<string, ColumnSpec>> = {
  program: { facet: true },
  category: { facet: true },
  bound_by: { facet: true },
  cost: { facet: true },
  dtype: { facet: true },
  share: { bar: true },
  wasted_us: { bar: true },
  program_id: { hidden: true },
  cumulative: { hidden: true },
  total_us: { hidden: true },
  average_us: { hidden: true },
  self_average_us: { hidden: true },
  kernels: { hidden: true },
  model_gflop_per_s: { hidden: true },
  gtranscendental_per_s: { hidden: true },
  hbm_gib_per_s: { hidden: true },
  flops: { hidden: true },
  bytes: { hidden: true },
  stack: { hidden: true },
  expression: { hidden: true },
  recomputed: { facet: true },
  core: { facet: true, hidden: true },
};

/** A row leads to the op's events. */
export function OpsGrid({ page }: { page: PageProps }) {
  const ops = page.answer.table("ops");
  return (
    <Section
      title={ops.label}
      doc={`${ops.doc} Click a row to find its events on the timeline; more columns are under Columns.`}
      note="click a row for its events on the timeline"
    >
      <Grid
        table={ops}
        specs={SPECS}
        hideEmpty
        name={exportName(page, "ops")}
        id="ops"
        sort={[{ id: "self_us", desc: true }]}
        link={(row) => eventsOf(page.store, ops.text(row, "name"))}
      />
    </Section>
  );
}
