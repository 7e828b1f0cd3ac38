/** The ten ops that take most of the device's time, or why there are none. */

import { eventsOf } from "../../state/links";
import { Grid } from "../../view/grid";
import type { ColumnSpec } from "../../view/gridmodel";
import { Section } from "../../view/section";
import { GoLink } from "../../view/verdict";
import { exportName, linkTo, type PageProps } from "../page";

const SPECS: Readonly<Record<string, ColumnSpec>> = { share: { bar: true } };

export function TopOps({ page }: { page: PageProps }) {
  const ops = page.answer.table("top_ops");
  const more = linkTo(page.store, "framework_op_stats");
  const hasDevice = ops.rows.length > 0;
  return (
    <Section title={ops.label} doc={ops.doc} controls={hasDevice && more && <GoLink {...more} label="All ops" />}>
      {hasDevice ? (
        <Grid
          table={ops}
          specs={SPECS}
          hideEmpty
          name={exportName(page, "top_ops")}
          id="top"
          link={(row) => eventsOf(page.store, ops.text(row, "name"))}
        />
      ) : (
        <p class="nothing">
          {page.answer.fact("device_recorded").value === false
            ? "What ran on the accelerator was not recorded, so it cannot be ranked here."
            : "No op ran on an accelerator in this capture, so there is nothing to rank here."}
          {more && (
            <>
              {" "}
              The ops of the host are there: <GoLink {...more} />
            </>
          )}
        </p>
      )}
    </Section>
  );
}
