/**
 * Links from a cause to the events that show it, in the order of the answer: those of what its sentence names first.
 * Where nothing was recorded, to that time.
 */

import { formatTime, MS_PER_PS } from "../../base/format";
import { t } from "../../base/messages";
import type { Answer } from "../../base/table";
import { type Link, linkToEvent, linkToTime } from "../../state/links";
import type { PageProps } from "../page";

const MOST_LINKS = 3;

export function evidenceLinks({ session, store }: PageProps, why: Answer, cause: string): Link[] {
  const evidence = why.table("evidence").where({ cause });
  return evidence.rows
    .flatMap((row) => {
      const host = evidence.text(row, "host");
      const event = evidence.number(row, "event");
      const lengthPs = evidence.numberOrZero(row, "time_ps");
      const beginMs = evidence.numberOrZero(row, "begin_ps") * MS_PER_PS;
      const link =
        event === null
          ? linkToTime(store, { beginMs, lengthMs: lengthPs * MS_PER_PS, host })
          : linkToEvent(store, session.hosts.indexOf(host), event);
      const name = evidence.text(row, "name") || t("Nothing recorded");
      return link ? [{ ...link, label: `${name}, ${formatTime(lengthPs, "ps")}` }] : [];
    })
    .slice(0, MOST_LINKS);
}
