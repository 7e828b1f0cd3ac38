/** XLA's ops as a grid: the same on every page that lists them. */

import { joinSentences, t } from "../../base/messages";
import type { Row } from "../../base/table";
import { Grid } from "../../view/grid";
import type { ColumnSpec } from "../../view/gridmodel";
import { Section } from "../../view/section";
import { useOpDialog } from "../card/opcard";
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

/** A row opens the op, with the ways to all that is known about it. */
export function OpsGrid({ page }: { page: PageProps }) {
  const ops = page.answer.table("ops");
  const [open, dialog] = useOpDialog(page.store);
  const show = (row: Row) => {
    const name = ops.text(row, "name");
    open({ table: ops, row, name, program: ops.text(row, "program_id"), eventName: name });
  };
  return (
    <Section
      title={ops.label}
      doc={joinSentences(
        ops.doc,
        t("Click a row for its figures, its events, graph and memory; more columns are under Columns."),
      )}
      note={t("click a row for its events, graph and memory")}
    >
      <Grid
        table={ops}
        specs={SPECS}
        hideEmpty
        name={exportName(page, "ops")}
        id="ops"
        sort={[{ id: "self_us", desc: true }]}
        onRow={show}
      />
      {dialog}
    </Section>
  );
}
