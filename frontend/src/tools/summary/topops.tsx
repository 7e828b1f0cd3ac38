/** The ten ops that take most of the device's time, or of the host's, or why there are none. */

import { t } from "../../base/messages";
import { linkTo, linkToOpEvents } from "../../state/links";
import { Grid } from "../../view/grid";
import type { ColumnSpecs } from "../../view/gridmodel";
import { Section } from "../../view/section";
import { ViewLink } from "../../view/viewlink";
import { exportName, type PageProps } from "../page";

const SPECS: ColumnSpecs = { share: { bar: true }, place: { facet: true } };

export function TopOps({ page }: { page: PageProps }) {
  const ops = page.answer.table("top_ops");
  const more = linkTo(page.store, "framework_op_stats");
  const hasOps = ops.rows.length > 0;
  return (
    <Section title={ops.label} doc={ops.doc} controls={hasOps && more && <ViewLink {...more} label={t("All ops")} />}>
      {hasOps ? (
        <Grid
          table={ops}
          specs={SPECS}
          hideEmpty
          name={exportName(page, "top_ops")}
          id="top"
          link={(row) => linkToOpEvents(page.store, ops.text(row, "name"))}
        />
      ) : (
        <p class="nothing">
          {page.answer.fact("device_recorded").value === false
            ? t("This capture holds no ops of the accelerator or the host.")
            : t("This capture holds no ops.")}
        </p>
      )}
    </Section>
  );
}
