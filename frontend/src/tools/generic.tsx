/** Draws any tool's answer that is a DataTable or a list of them; what is none is shown as text. */

import { useMemo } from "preact/hooks";
import { type Table, tablesOf } from "../base/datatable";
import { Grid } from "../view/grid";
import { Figure } from "../view/rich";
import { Section } from "../view/section";
import { exportName, type PageProps } from "./page";

function readable(name: string): string {
  const words = name.replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function Properties({ table }: { table: Table }) {
  const names = table.propertyNames.filter((name) => table.property(name) !== "");
  if (!names.length) return null;
  return (
    <dl class="figures">
      {names.map((name) => (
        <Figure key={name} label={readable(name)} value={table.property(name)} doc={table.doc(name)} />
      ))}
    </dl>
  );
}

export default function Generic(props: PageProps) {
  const { data, tool } = props;
  const tables = useMemo(() => tablesOf(data), [data]);
  const filled = tables.filter((table) => table.columns.length > 0 || table.propertyNames.length > 0);
  if (!filled.length) {
    return (
      <Section title={tool.title} doc={tool.doc}>
        <pre class="raw">{JSON.stringify(data, null, 2)}</pre>
      </Section>
    );
  }
  return (
    <>
      {filled.map((table, place) => (
        <Section
          key={place}
          title={filled.length > 1 ? `${tool.title}, table ${place + 1}` : tool.title}
          doc={tool.doc}
        >
          <Properties table={table} />
          {table.columns.length > 0 && <Grid table={table} name={exportName(props, String(place + 1))} />}
        </Section>
      ))}
    </>
  );
}
