/** The ten ops that take most of the device's time, or why there are none. */

import { useMemo } from "preact/hooks";
import type { Table } from "../../base/datatable";
import { eventsOf } from "../../state/links";
import { Grid } from "../../view/grid";
import { type ColumnSpec, withoutEmpty } from "../../view/gridmodel";
import { Section } from "../../view/section";
import { GoLink } from "../../view/verdict";
import { exportName, linkTo, type PageProps } from "../page";

const SPECS: Readonly<Record<string, ColumnSpec>> = {
  selfTimePercent: { label: "Self time", bar: true },
  cumulativeTimePercent: { label: "Cumulative" },
  flopRate: { label: "GFLOP/s" },
  tcEligibility: { label: "Tensor core possible" },
  tcUtilization: { label: "Tensor core used" },
};

export function TopOps({ analysis, page }: { analysis: Table; page: PageProps }) {
  const more = linkTo(page.store, "framework_op_stats");
  const hasDevice = analysis.rows.length > 0;
  const specs = useMemo(() => withoutEmpty(analysis, SPECS), [analysis]);
  return (
    <Section
      title="Top 10 ops on the device"
      doc="The ops with the largest self time on the device."
      controls={hasDevice && more && <GoLink {...more} label="All ops" />}
    >
      {hasDevice ? (
        <Grid
          table={analysis}
          specs={specs}
          name={exportName(page, "top_ops")}
          id="top"
          link={(row) => eventsOf(page.store, analysis.text(row, "operation"))}
        />
      ) : (
        <p class="nothing">
          No op ran on an accelerator in this capture, so there is nothing to rank here.
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
