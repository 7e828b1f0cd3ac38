/** Draws any tool's answer: its headline, its facts, its tables. */

import { Facts } from "../view/facts";
import { Grid } from "../view/grid";
import { Notes } from "../view/problems";
import { Section } from "../view/section";
import { Verdict } from "../view/verdict";
import { exportName, linkTo, type PageProps } from "./page";

export default function Generic(props: PageProps) {
  const { answer, tool, store } = props;
  const { headline } = answer;
  const hasFacts = answer.factIds.some((id) => answer.fact(id).value !== null);
  return (
    <>
      {headline && <Verdict {...headline} next={linkTo(store, headline.tool)} />}
      <Notes notes={answer.notes} store={store} />
      {hasFacts && (
        <Section title={tool.title} doc={tool.doc}>
          <Facts answer={answer} />
        </Section>
      )}
      {answer.tableIds.map((id) => {
        const table = answer.table(id);
        return (
          <Section key={id} title={table.label} doc={table.doc}>
            <Grid table={table} hideEmpty name={exportName(props, id)} id={id} />
          </Section>
        );
      })}
    </>
  );
}
