/** Are ops limited by compute or by memory, and how far are they from the device's peak? */

import { useCallback, useMemo } from "preact/hooks";
import { joinSentences, t } from "../base/messages";
import { Chart } from "../view/chart";
import { Facts } from "../view/facts";
import type { Palette } from "../view/palette";
import { Section } from "../view/section";
import type { PageProps } from "./page";
import { PageHead } from "./shared/pagehead";
import { TableSection } from "./shared/tablesection";
import { OpsGrid } from "./xla/opsgrid";
import { opsOnChart, rooflineOption } from "./xla/roofline";

const DOC = joinSentences(
  t("Ops by FLOPs per byte and FLOP/s; the area is the self time."),
  t("The lines are the device's limits: levels are peaks by number type, slopes are memories."),
  t("Ops without known FLOPs are missing here; the table below lists them."),
);

function Roofline({ page }: { page: PageProps }) {
  const [ops, ceilings] = [page.answer.table("ops"), page.answer.table("ceilings")];
  const placedOps = useMemo(() => opsOnChart(ops), [ops]);
  const build = useCallback((palette: Palette) => rooflineOption(placedOps, ceilings, palette), [placedOps, ceilings]);
  const missingCount = ops.rows.length - placedOps.rows.length;
  return (
    <Section
      title={t("Roofline")}
      doc={DOC}
      note={
        missingCount > 0
          ? t("{left} of {all} ops have no FLOPs, or none that are known", { left: missingCount, all: ops.rows.length })
          : undefined
      }
    >
      {placedOps.rows.length > 0 ? (
        <Chart
          label={joinSentences(t("Ops under the device's roofline."), page.answer.headline?.text ?? "")}
          height={420}
          build={build}
        />
      ) : (
        <p class="nothing">
          {t("No op has FLOPs that are known, so none has a place under the roofline; see the table below.")}
        </p>
      )}
    </Section>
  );
}

export default function RooflinePage(props: PageProps) {
  const { answer } = props;
  return (
    <>
      <PageHead page={props} />
      <Facts answer={answer} />
      <Roofline page={props} />
      <TableSection page={props} id="ceilings" />
      <TableSection page={props} id="programs" />
      <TableSection page={props} id="transfers" />
      <OpsGrid page={props} />
    </>
  );
}
