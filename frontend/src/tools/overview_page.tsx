/** Why is the step slow? The answer, where the time goes, which ops cost most, and what to do next. */

import { Notes } from "../view/problems";
import { Verdict } from "../view/verdict";
import { Breakdown } from "./overview/breakdown";
import { Environment, Precisions } from "./overview/facts";
import { Hosts } from "./overview/hosts";
import { NextSteps } from "./overview/nextsteps";
import { TopOps } from "./overview/topops";
import { linkTo, type PageProps } from "./page";
import { StepChart } from "./steps/chart";

export default function OverviewPage(props: PageProps) {
  const { answer, store } = props;
  const { headline } = answer;
  return (
    <>
      {headline && <Verdict {...headline} next={linkTo(store, headline.tool)} />}
      <Notes notes={answer.notes} store={store} />
      <div class="columns wide-narrow">
        <Breakdown answer={answer} severalHosts={props.session.hosts.length > 1} />
        <div>
          <Environment answer={answer} store={store} />
          <Precisions answer={answer} />
        </div>
      </div>
      {answer.table("steps").rows.length > 0 && <StepChart page={props} />}
      <Hosts page={props} />
      <div class="columns halves">
        <TopOps page={props} />
        <NextSteps answer={answer} store={store} />
      </div>
    </>
  );
}
