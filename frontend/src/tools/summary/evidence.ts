/** Links from a cause to the events that show it: those of the name that its sentence says first, the longest first. */

import { time } from "../../base/format";
import type { Answer } from "../../base/table";
import { type Link, theEvent } from "../../state/links";
import type { PageProps } from "../page";

const MOST = 3;

export function evidenceOf({ session, store }: PageProps, why: Answer, cause: string): Link[] {
  const [names, evidence] = [why.table("names"), why.table("evidence")];
  const said = names.rows.filter((row) => names.text(row, "cause") === cause).map((row) => names.text(row, "name"));
  const place = (name: string) => (said.includes(name) ? said.indexOf(name) : said.length);
  return evidence.rows
    .filter((row) => evidence.text(row, "cause") === cause && evidence.number(row, "event") !== null)
    .sort((a, b) => place(evidence.text(a, "name")) - place(evidence.text(b, "name")))
    .flatMap((row) => {
      const host = session.hosts.indexOf(evidence.text(row, "host"));
      const link = theEvent(store, host, evidence.length(row, "event"));
      const label = `${evidence.text(row, "name")}, ${time(evidence.length(row, "time_ps"), "ps")}`;
      return link ? [{ ...link, label }] : [];
    })
    .slice(0, MOST);
}
