/** What stands behind the causes: scenarios, the critical path, and each device with what it waits for. */

import type { Table } from "../../base/table";
import { Grid } from "../../view/grid";
import type { ColumnSpec } from "../../view/gridmodel";
import { Section } from "../../view/section";
import { exportName, type PageProps } from "../page";

const SPECS: Readonly<Record<string, ColumnSpec>> = {
  id: { hidden: true },
  share: { bar: true },
  gain_ps: { bar: true },
  busy_share: { bar: true },
};

function Figures({ page, table, id }: { page: PageProps; table: Table; id: string }) {
  if (!table.rows.length) return null;
  return (
    <Section title={table.label} doc={table.doc}>
      <Grid table={table} specs={SPECS} hideEmpty name={exportName(page, id)} id={id} />
    </Section>
  );
}

export function Behind({ page }: { page: PageProps }) {
  const { answer } = page;
  return (
    <>
      <div class="columns halves">
        <Figures page={page} id="scenarios" table={answer.table("scenarios")} />
        <Figures page={page} id="path" table={answer.table("path")} />
      </div>
      <Figures page={page} id="devices" table={answer.table("devices")} />
      <Figures page={page} id="idle" table={answer.table("idle")} />
      <Figures page={page} id="queues" table={answer.table("queues")} />
      <Figures page={page} id="communication" table={answer.table("communication")} />
      <Figures page={page} id="copies" table={answer.table("copies")} />
    </>
  );
}
