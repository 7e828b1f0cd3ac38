/** A titled chart that can be shown as a table. */

import type { ComponentChildren } from "preact";
import { t } from "../base/messages";
import type { Row, Table } from "../base/table";
import type { Link } from "../state/links";
import { Chart, type ChartProps } from "./chart";
import { useChoice } from "./choices";
import { Grid } from "./grid";
import type { ColumnSpecs } from "./gridmodel";
import { Section } from "./section";

interface ChartSectionProps extends ChartProps {
  readonly title: string;
  readonly doc: string;
  readonly note?: string | undefined;
  readonly controls?: ComponentChildren;
  /** The chart's figures, for reading and copying. */
  readonly table: Table;
  readonly specs?: ColumnSpecs;
  readonly name: string;
  /** Short and unique on its page: under it the address keeps how it is shown. */
  readonly id: string;
  /** Where the rows of the table lead; the chart's columns lead there, too. */
  readonly link?: ((row: Row) => Link | undefined) | undefined;
  readonly children?: ComponentChildren;
}

export function ChartSection({
  title,
  doc,
  note,
  controls,
  table,
  specs = {},
  name,
  id,
  link,
  children,
  ...chart
}: ChartSectionProps) {
  const [shownAs, setShownAs] = useChoice(`${id}.as`);
  const asTable = shownAs === "table";
  const open = (column: number) => link?.(table.rows[column] ?? [])?.go();
  return (
    <Section
      title={title}
      doc={doc}
      note={note}
      controls={
        <>
          {!asTable && controls}
          <button
            type="button"
            class="button"
            aria-pressed={asTable}
            onClick={() => setShownAs(asTable ? "" : "table")}
          >
            {asTable ? t("Show as chart") : t("Show as table")}
          </button>
        </>
      }
    >
      {children}
      {asTable ? (
        <Grid table={table} specs={specs} hideEmpty name={name} id={id} {...(link && { link })} />
      ) : (
        <Chart {...chart} {...(link && { onColumn: open })} />
      )}
    </Section>
  );
}
