/** Draws any tool's answer that is a DataTable or a list of them; what is none is shown as text. */

import { useMemo } from "preact/hooks";
import { address } from "../api/client";
import { type Table, tablesOf } from "../base/datatable";
import { beginning } from "../base/text";
import { Grid } from "../view/grid";
import { Figure } from "../view/rich";
import { Section } from "../view/section";
import { level, Verdict } from "../view/verdict";
import { exportName, linkTo, type PageProps } from "./page";

function readable(name: string): string {
  const words = name.replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function Properties({ table }: { table: Table }) {
  const names = table.propertyNames.filter((name) => table.property(name) !== "" && !name.startsWith("verdict"));
  if (!names.length) return null;
  return (
    <dl class="figures">
      {names.map((name) => (
        <Figure key={name} label={readable(name)} value={table.property(name)} doc={table.doc(name)} of={name} />
      ))}
    </dl>
  );
}

/** More text than this makes the browser slow and nobody reads it. */
const RAW_LIMIT = 40_000;

function Raw({ data, tool, session, store }: PageProps) {
  const text = useMemo(() => JSON.stringify(data, null, 2), [data]);
  const whole = address("data", { run: session.run, tag: tool.name, host: store.host.value });
  return (
    <Section
      title={tool.title}
      doc={tool.doc}
      controls={
        <a href={whole} target="_blank" rel="noreferrer">
          The whole answer as JSON
        </a>
      }
    >
      <p class="quiet">This tool has no page of its own yet{text.length > RAW_LIMIT && "; its answer begins so"}.</p>
      <pre class="raw">{beginning(text, RAW_LIMIT)}</pre>
    </Section>
  );
}

export default function Generic(props: PageProps) {
  const { data, tool } = props;
  const tables = useMemo(() => tablesOf(data), [data]);
  const filled = tables.filter((table) => table.columns.length > 0 || table.propertyNames.length > 0);
  if (!filled.length) {
    return <Raw {...props} />;
  }
  const judged = filled.find((table) => table.property("verdict") !== "");
  return (
    <>
      {judged && (
        <Verdict
          level={level(judged.property("verdict_level"))}
          text={judged.property("verdict")}
          next={linkTo(props.store, judged.property("verdict_tool"))}
        />
      )}
      {filled.map((table, place) => (
        <Section
          key={place}
          title={filled.length > 1 ? `${tool.title}, table ${place + 1}` : tool.title}
          doc={tool.doc}
        >
          <Properties table={table} />
          {table.columns.length > 0 && (
            <Grid table={table} name={exportName(props, String(place + 1))} id={`t${place + 1}`} />
          )}
        </Section>
      ))}
    </>
  );
}
