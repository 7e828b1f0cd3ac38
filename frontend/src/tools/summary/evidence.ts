/** Links from a cause to the events that show it, in the order of the answer: those of what its sentence names first. */

import { time } from "../../base/format";
import type { Answer } from "../../base/table";
import { type Link, theEvent } from "../../state/links";
import type { PageProps } from "../page";

const MOST = 3;

export function evidenceOf({ session, store }: PageProps, why: Answer, cause: string): Link[] {
  const evidence = why.table("evidence");
  return evidence.rows
    .filter((row) => evidence.text(row, "cause") === cause && evidence.number(row, "event") !== null)
    .flatMap((row) => {
      const host = session.hosts.indexOf(evidence.text(row, "host"));
      const link = theEvent(store, host, evidence.length(row, "event"));
      const label = `${evidence.text(row, "name")}, ${time(evidence.length(row, "time_ps"), "ps")}`;
      return link ? [{ ...link, label }] : [];
    })
    .slice(0, MOST);
}
