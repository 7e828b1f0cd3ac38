/** Does the step wait for data, which part of the input is slow, and what can be done about it? */

import { InputWork } from "./input/inputwork";
import { WaitChart } from "./input/waitchart";
import type { PageProps } from "./page";
import { PageHead } from "./shared/pagehead";

export default function InputPage(props: PageProps) {
  const { answer } = props;
  return (
    <>
      <PageHead page={props} />
      {answer.table("steps").rows.length > 0 && <WaitChart page={props} />}
      <InputWork page={props} />
    </>
  );
}
