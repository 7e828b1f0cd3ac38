/** The digest in a file that somebody opens: a digest itself, or a report, which holds that of its session. */

/** As analysis/digest/embedded.py writes it; what could end the element is escaped in it. */
const ELEMENT = /<script type="application\/json" id="digest">([^<]*)<\/script>/g;

/** Its JSON as it stands; a sentence where there is none, for an `Error`. */
export function digestIn(text: string): string {
  if (text.trimStart().startsWith("{")) return text;
  const [only, ...others] = [...text.matchAll(ELEMENT)];
  if (others.length) throw new Error("This page holds several digests.");
  if (only?.[1] === undefined) throw new Error("This file holds no digest.");
  return only[1];
}
