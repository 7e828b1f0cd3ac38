/** The answers that a report holds: JSON by request, compressed, in an element of the page. */

import { t } from "../base/messages";
import { errorProblem } from "../base/problem";

type AnswersByKey = Readonly<Record<string, unknown>>;

/**
 * What an answer is kept under, whatever the order of the parameters, and in the one language of the report; Python
 * writes the same (serve/report.py).
 */
export function answerKey(where: string): string {
  const { pathname, searchParams } = new URL(where, "report:/");
  searchParams.delete("lang");
  const pairs = [...searchParams].sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([pathname.split("/").pop(), pairs]);
}

/** Reads base64 of compressed JSON. */
export async function unpackAnswers(text: string): Promise<AnswersByKey> {
  const bytes = Uint8Array.from(atob(text.trim()), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return (await new Response(stream).json()) as AnswersByKey;
}

function notInReport() {
  const remedy = t("Open the capture itself; the report holds every page with its default options.");
  return errorProblem("not_in_report", t("This is not in the report."), remedy);
}

/** Answers requests from the text of that element. */
export function embeddedTransport(text: string): (where: string) => Promise<Response> {
  const answers = unpackAnswers(text);
  return async (where) => {
    const answer = (await answers)[answerKey(where)];
    return answer === undefined
      ? new Response(JSON.stringify(notInReport()), { status: 404 })
      : new Response(JSON.stringify(answer));
  };
}
