/** Does the step wait for data, which part of the input is slow, and what can be done about it? */

import { useMemo } from "preact/hooks";
import { type Table, tableAt } from "../base/datatable";
import { level, Verdict } from "../view/verdict";
import { HostSide } from "./input/hostside";
import { WaitChart } from "./input/wait";
import { Diagnostics } from "./overview/facts";
import { linkTo, type PageProps } from "./page";

/** The statements beside the conclusion: kernel launch, collectives, all others. */
function otherStatements(steps: Table): string[] {
  const names = steps.propertyNames.filter((name) => name.endsWith("_statement") || name === "output_conclusion");
  return names.map((name) => steps.property(name)).filter(Boolean);
}

export default function InputPage(props: PageProps) {
  const { data, store } = props;
  const tables = useMemo(
    () => ({
      steps: tableAt(data, 1),
      ops: tableAt(data, 2),
      recommendation: tableAt(data, 3),
      diagnostics: tableAt(data, 4),
      summary: tableAt(data, 5),
    }),
    [data],
  );
  const { steps, summary } = tables;
  const others = otherStatements(steps);
  return (
    <>
      <Verdict
        level={level(summary.property("verdict_level"))}
        text={summary.property("verdict")}
        next={linkTo(store, summary.property("verdict_tool"))}
      />
      {others.length > 0 && (
        <ul class="statements">
          {others.map((text) => (
            <li key={text}>{text}</li>
          ))}
        </ul>
      )}
      <Diagnostics table={tables.diagnostics} store={store} />
      {steps.rows.length > 0 && <WaitChart steps={steps} page={props} />}
      <HostSide ops={tables.ops} recommendation={tables.recommendation} page={props} />
    </>
  );
}
