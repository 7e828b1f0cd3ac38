/** What to do: few things, as cards show them. */

import type { Answer } from "../../base/table";

/** Times are ms, from step to step, or of the whole capture where there are no steps. */
export interface Action {
  /** Id of the cause, or of the rule. */
  readonly id: string;
  /** The first sentence of the remedy. */
  readonly title: string;
  /** The rest of it. */
  readonly explanation: string;
  readonly code: string;
  /** What shows that it is worth doing. */
  readonly evidence: string;
  /** At most; null where that is not known. */
  readonly savesMs: number | null;
  /** What its cause takes; null where it has none. */
  readonly takesMs: number | null;
  /** What both are a part of. */
  readonly wholeMs: number;
  /** What limits the step afterwards; empty where that is not known. */
  readonly nextBottleneck: string;
  /** The tool that shows more; empty where that is this page. */
  readonly tool: string;
}

/** Several words before a colon, in any language, and none of it in brackets. */
const BEFORE_COLON = /^([^:：(（]*(?: |[^\x20-\x7f])[^:：(（]*)(?:: |：)(.+)$/s;
const SENTENCE = /^(.+?[^.])(?:[.;] |[。；])(.+)$/s;

/** A remedy as (what to do, the rest): its first sentence, or what stands before a colon where that says enough. */
export function splitRemedy(remedy: string): readonly [title: string, more: string] {
  const match = BEFORE_COLON.exec(remedy) ?? SENTENCE.exec(remedy);
  const [title, more] = match ? [match[1] ?? "", match[2] ?? ""] : [remedy, ""];
  const word = /^[a-z]+(?= )/.exec(more);
  return [title.replace(/[.。]$/, ""), word ? more.charAt(0).toUpperCase() + more.slice(1) : more];
}

/** What the diagnosis finds worth doing, at most so many, in its order. */
export function actionsOf(why: Answer, most: number): Action[] {
  const findings = why.table("findings");
  const causes = why.table("causes");
  return findings.rows.slice(0, most).map((row) => {
    const id = findings.text(row, "id");
    const [title, explanation] = splitRemedy(findings.text(row, "title"));
    const cause = causes.where({ id }).rows[0];
    const tool = findings.text(row, "tool");
    return {
      id,
      title,
      explanation,
      code: findings.text(row, "code"),
      evidence: findings.text(row, "evidence"),
      savesMs: findings.number(row, "gain_ms"),
      takesMs: findings.number(row, "takes_ms"),
      wholeMs: findings.number(row, "of_ms") ?? 0,
      nextBottleneck: cause ? causes.text(cause, "then_label") : "",
      tool: tool === "why" ? "" : tool,
    };
  });
}
