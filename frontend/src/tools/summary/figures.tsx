/** What stands behind the causes: scenarios, the critical path, and each device with what it waits for. */

import type { Answer } from "../../base/table";
import { Grid } from "../../view/grid";
import type { ColumnSpec } from "../../view/gridmodel";
import { Section } from "../../view/section";
import { exportName, type PageProps } from "../page";

const SPECS: Readonly<Record<string, ColumnSpec>> = {
  id: { hidden: true },
  place: { hidden: true },
  cause: { hidden: true },
  share: { bar: true },
  gain_ps: { bar: true },
  busy_share: { bar: true },
};

interface FiguresProps {
  readonly page: PageProps;
  readonly of: Answer;
  readonly id: string;
}

/** A table of the answer alone, below a fold's own line. */
export function Figures({ page, of, id }: FiguresProps) {
  return <Grid table={of.table(id)} specs={SPECS} hideEmpty name={exportName(page, id)} id={id} />;
}

const OF_DEVICES = ["devices", "idle", "queues", "communication", "copies"];

/** Which tables tell of devices here. */
export function deviceTables(why: Answer): string[] {
  return OF_DEVICES.filter((id) => why.table(id).rows.length > 0);
}

export function Devices({ page, of }: Pick<FiguresProps, "page" | "of">) {
  return deviceTables(of).map((id) => (
    <Section key={id} title={of.table(id).label} doc={of.table(id).doc}>
      <Figures page={page} of={of} id={id} />
    </Section>
  ));
}
