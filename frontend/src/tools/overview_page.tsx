/** The Summary: why a step takes as long as it does, what to do first, and everything that stands behind both. */

import { useEffect, useMemo } from "preact/hooks";
import { useNarrow } from "../view/narrow";
import type { PageProps } from "./page";
import { PageHead } from "./shared/pagehead";
import { StepChart } from "./steps/stepchart";
import { ActionCards } from "./summary/actioncards";
import { Folds } from "./summary/folds";
import { StepBar } from "./summary/stepbar";
import { StepLanes } from "./summary/steplanes";

/** The tool whose answer tells causes, remedies and what they would save. */
const WHY_TOOL = "why";

export default function SummaryPage(props: PageProps) {
  const { answer, session, store } = props;
  const causes = useMemo(() => store.loadAnswerOf(WHY_TOOL), [store]);
  useEffect(() => causes.dispose, [causes]);
  const why = causes.state.value;
  const actions = <ActionCards key="actions" page={props} why={why} />;
  // What to do stands on the first screen of a phone, too: before the bar, for the eye and for the Tab key.
  const narrow = useNarrow();
  return (
    <>
      <PageHead page={props} />
      {narrow && actions}
      <StepBar
        key="bar"
        answer={answer}
        severalHosts={session.hosts.length > 1}
        around={(bar) => <StepLanes page={props}>{bar}</StepLanes>}
      />
      {!narrow && actions}
      {answer.table("steps").rows.length > 0 && <StepChart page={props} />}
      <Folds page={props} why={why.value} showsCauses={store.view.value.tool === WHY_TOOL} />
    </>
  );
}
