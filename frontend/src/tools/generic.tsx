/** Draws any tool's answer: its headline, its facts, its tables; those without rows only where none has any. */

import type { ComponentChildren } from "preact";
import type { Table } from "../base/table";
import { Facts } from "../view/facts";
import { Grid } from "../view/grid";
import { Notes } from "../view/problems";
import { Section } from "../view/section";
import { Verdict } from "../view/verdict";
import { exportName, linkTo, type PageProps } from "./page";

interface GenericProps extends PageProps {
  /** Tables that are drawn in another way than as a grid, by id. */
  readonly drawn?: Readonly<Record<string, (table: Table) => ComponentChildren>>;
}

export default function Generic(props: GenericProps) {
  const { answer, tool, store } = props;
  const { headline } = answer;
  const hasFacts = answer.factIds.some((id) => answer.fact(id).value !== null);
  const tables = answer.tableIds.map((id) => [id, answer.table(id)] as const);
  const filled = tables.filter(([, table]) => table.rows.length > 0);
  return (
    <>
      {headline && <Verdict {...headline} next={linkTo(store, headline.tool)} />}
      <Notes notes={answer.notes} store={store} />
      {hasFacts && (
        <Section title={tool.title} doc={tool.doc}>
          <Facts answer={answer} />
        </Section>
      )}
      {(filled.length ? filled : tables).map(([id, table]) => (
        <Section key={id} title={table.label} doc={table.doc}>
          {props.drawn?.[id]?.(table) ?? <Grid table={table} hideEmpty name={exportName(props, id)} id={id} />}
        </Section>
      ))}
    </>
  );
}
