/** XLA's ops as a grid: the same on every page that lists them. */

import { joinSentences, t } from "../../base/messages";
import type { Row } from "../../base/table";
import { Grid } from "../../view/grid";
import { type ColumnSpecs, columnSpecs } from "../../view/gridmodel";
import { Section } from "../../view/section";
import { useOpDialog } from "../card/opcard";
import { exportName, type PageProps } from "../page";

const SPECS: ColumnSpecs = {
  of_busy: { bar: true, label: t("Share") },
  wasted_us: { bar: true },
  core: { facet: true, hidden: true },
  ...columnSpecs("program category bound_by cost dtype recomputed", { facet: true }),
  ...columnSpecs(
    "program_id share cumulative total_us average_us self_average_us kernels model_gflop_per_s gtranscendental_per_s hbm_gib_per_s flops bytes stack expression",
    { hidden: true },
  ),
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
