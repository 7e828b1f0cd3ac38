/** What stands behind the causes: scenarios, the critical path, and each device with what it waits for. */

import type { Answer, Row } from "../../base/table";
import { linkToDevice } from "../../state/links";
import { Grid } from "../../view/grid";
import { type ColumnSpecs, columnSpecs } from "../../view/gridmodel";
import { Section } from "../../view/section";
import { exportName, type PageProps } from "../page";

const SPECS: ColumnSpecs = {
  ...columnSpecs("id place cause", { hidden: true }),
  ...columnSpecs("share gain_ps busy_share", { bar: true }),
};

interface FoldTableProps {
  readonly page: PageProps;
  readonly answer: Answer;
  readonly id: string;
}

/** A table of the answer alone, below a fold's own line; rows of devices lead to what was recorded of them. */
export function FoldTable({ page, answer, id }: FoldTableProps) {
  const table = answer.table(id);
  const link = (row: Row) =>
    table.has("device") ? linkToDevice(page.store, table.text(row, "host"), table.text(row, "device")) : undefined;
  return <Grid table={table} specs={SPECS} hideEmpty name={exportName(page, id)} id={id} link={link} />;
}

const DEVICE_TABLES = ["devices", "idle", "queues", "communication", "copies"];

export function deviceTableIds(answer: Answer): string[] {
  return DEVICE_TABLES.filter((id) => answer.table(id).rows.length > 0);
}

export function DeviceTables({ page, answer }: Pick<FoldTableProps, "page" | "answer">) {
  return deviceTableIds(answer).map((id) => (
    <Section key={id} title={answer.table(id).label} doc={answer.table(id).doc}>
      <FoldTable page={page} answer={answer} id={id} />
    </Section>
  ));
}
