/** The ten ops that take most of the device's time, or why there are none. */

import { useMemo } from "preact/hooks";
import type { Table } from "../../base/datatable";
import { Grid } from "../../view/grid";
import { type ColumnSpec, withoutEmpty } from "../../view/gridmodel";
import { Section } from "../../view/section";
import { GoLink } from "../../view/verdict";
import { exportName, linkTo, type PageProps } from "../page";

const SPECS: Readonly<Record<string, ColumnSpec>> = {
  selfTimePercent: {
    label: "Self time",
    unit: "percent",
    bar: true,
    doc: "Self time of the op: its share of the time of all ops on the device, without idle time.",
  },
  cumulativeTimePercent: {
    label: "Cumulative",
    unit: "percent",
    doc: "Self time of this op and of all above it, as a share of all ops.",
  },
  flopRate: { label: "GFLOP/s", doc: "Floating-point operations by the cost model, divided by the op's time." },
  tcEligibility: { label: "Tensor core possible", doc: "Whether this kind of op can run on tensor cores." },
  tcUtilization: { label: "Tensor core used", doc: "Whether at least one kernel of the op ran on tensor cores." },
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
        <Grid table={analysis} specs={specs} name={exportName(page, "top_ops")} />
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
