/** How fast are the ops of the XLA programs, and what limits them? */

import { Facts } from "../view/facts";
import type { PageProps } from "./page";
import { PageHead } from "./shared/pagehead";
import { OpsGrid } from "./xla/opsgrid";

export default function HloStatsPage(props: PageProps) {
  const { answer } = props;
  return (
    <>
      <PageHead page={props} />
      <Facts answer={answer} />
      <OpsGrid page={props} />
    </>
  );
}
