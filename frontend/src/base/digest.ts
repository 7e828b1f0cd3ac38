/** The digest in a file that somebody opens: a digest itself, or a report, which holds that of its session. */

import { t } from "./messages";

/** Its JSON as it stands; throws an `Error` with a sentence where there is none. Of a page nothing is run or fetched. */
export function digestIn(text: string): string {
  if (text.trimStart().startsWith("{")) return text;
  const page = new DOMParser().parseFromString(text, "text/html");
  const [only, ...others] = page.querySelectorAll('script[type="application/json"][id="digest"]');
  if (others.length) throw new Error(t("This page holds several digests."));
  if (!only?.textContent) throw new Error(t("This file holds no digest."));
  return only.textContent;
}
