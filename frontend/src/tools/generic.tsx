/** Draws any tool's answer: its headline, its facts, its tables; those without rows only where none has any. */

import type { ComponentChildren } from "preact";
import type { Row, Table } from "../base/table";
import { linkTo, linkToEvent } from "../state/links";
import { Facts } from "../view/facts";
import { Grid } from "../view/grid";
import type { RowLink } from "../view/gridbody";
import { Notes } from "../view/problems";
import { Section } from "../view/section";
import { Verdict } from "../view/verdict";
import { exportName, type PageProps } from "./page";

interface GenericProps extends PageProps {
  /** Tables that are drawn in another way than as a grid, by id. */
  readonly drawTable?: Readonly<Record<string, (table: Table) => ComponentChildren>>;
  /** Beside the titles of these tables. */
  readonly controls?: Readonly<Record<string, ComponentChildren>>;
  readonly belowHeadline?: ComponentChildren;
  /** Where a row of a table leads; else to the event that it names. */
  readonly linkRow?: (id: string, table: Table, row: Row) => RowLink | undefined;
}

/** Numbers of events are for links and scripts; files of lines are long. */
const SPECS = { event: { hidden: true }, line: { path: true } };

export default function GenericPage(props: GenericProps) {
  const { answer, tool, store, session } = props;
  const linkOf = (id: string, table: Table, row: Row) => {
    const [host, event] = [session.hosts.indexOf(table.text(row, "host")), table.number(row, "event")];
    return (
      props.linkRow?.(id, table, row) ?? (event === null || host < 0 ? undefined : linkToEvent(store, host, event))
    );
  };
  const { headline } = answer;
  const hasFacts = answer.factIds.some((id) => answer.fact(id).value !== null);
  const tables = answer.tableIds.map((id) => [id, answer.table(id)] as const);
  const tablesWithRows = tables.filter(([, table]) => table.rows.length > 0);
  return (
    <>
      {headline && <Verdict {...headline} next={linkTo(store, headline.tool)} />}
      {props.belowHeadline}
      <Notes notes={answer.notes} store={store} />
      {hasFacts && (
        <Section title={tool.title} doc={tool.doc}>
          <Facts answer={answer} />
        </Section>
      )}
      {(tablesWithRows.length ? tablesWithRows : tables).map(([id, table]) => (
        <Section key={id} title={table.label} doc={table.doc} controls={props.controls?.[id]}>
          {props.drawTable?.[id]?.(table) ?? (
            <Grid
              table={table}
              specs={SPECS}
              hideEmpty
              name={exportName(props, id)}
              id={id}
              link={(row) => linkOf(id, table, row)}
            />
          )}
        </Section>
      ))}
    </>
  );
}
