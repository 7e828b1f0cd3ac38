/** How fast are the ops of the XLA programs, and what limits them? */

import { Facts } from "../view/facts";
import { Notes } from "../view/problems";
import { Verdict } from "../view/verdict";
import { linkTo, type PageProps } from "./page";
import { OpsGrid } from "./xla/ops";

export default function HloStatsPage(props: PageProps) {
  const { answer, store } = props;
  const { headline } = answer;
  return (
    <>
      {headline && <Verdict {...headline} next={linkTo(store, headline.tool)} />}
      <Notes notes={answer.notes} store={store} />
      <Facts answer={answer} />
      <OpsGrid page={props} />
    </>
  );
}
