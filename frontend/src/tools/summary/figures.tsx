/** What stands behind the causes: scenarios, the critical path, and each device with what it waits for. */

import type { Answer, Row } from "../../base/table";
import { linkToDevice } from "../../state/links";
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

/** A table of the answer alone, below a fold's own line; rows of devices lead to what was recorded of them. */
export function Figures({ page, of, id }: FiguresProps) {
  const table = of.table(id);
  const link = (row: Row) =>
    table.has("device") ? linkToDevice(page.store, table.text(row, "host"), table.text(row, "device")) : undefined;
  return <Grid table={table} specs={SPECS} hideEmpty name={exportName(page, id)} id={id} link={link} />;
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
