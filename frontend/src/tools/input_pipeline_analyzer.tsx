/** Does the step wait for data, which part of the input is slow, and what can be done about it? */

import { Notes } from "../view/problems";
import { Verdict } from "../view/verdict";
import { HostSide } from "./input/hostside";
import { WaitChart } from "./input/wait";
import { linkTo, type PageProps } from "./page";

export default function InputPage(props: PageProps) {
  const { answer, store } = props;
  const { headline } = answer;
  return (
    <>
      {headline && <Verdict {...headline} next={linkTo(store, headline.tool)} />}
      <Notes notes={answer.notes} store={store} />
      {answer.table("steps").rows.length > 0 && <WaitChart page={props} />}
      <HostSide page={props} />
    </>
  );
}
