/** What to do about the causes: few things, the one that the headline speaks of first, then by what each saves. */

import { inMilliseconds } from "../../base/format";
import type { Answer, Row } from "../../base/table";

/** Times are ms, from step to step, or of the whole capture where there are no steps. */
export interface Action {
  /** Of the cause, or of the rule. */
  readonly id: string;
  /** The first sentence of the remedy. */
  readonly title: string;
  /** The rest of it. */
  readonly more: string;
  readonly code: string;
  /** What shows that it is worth doing. */
  readonly evidence: string;
  /** At most; null where that is not known. */
  readonly saves: number | null;
  /** What its cause takes; null where it has none. */
  readonly takes: number | null;
  /** What limits the step afterwards; empty where that is not known. */
  readonly limit: string;
  /** The tool that shows more; empty for none. */
  readonly tool: string;
}

const PS = inMilliseconds("ps");
/** Less than this of the whole is nothing to begin with. */
const SMALL = 0.03;
/** What is no fault, or passes: it is worth a card only where it takes the most. */
const NO_FAULT: readonly string[] = ["compute", "warmup", "start_up"];

/** The tools that show more of a cause. */
const SHOWN_BY: Readonly<Record<string, string>> = {
  input: "tf_data_bottleneck_analysis",
  compute: "framework_op_stats",
  exposed_collective: "communication",
  late_peer: "pod_viewer",
  allocator: "memory_profile",
};

/** Several words before a colon, in any language, and none of it in brackets. */
const BEFORE_COLON = /^([^:：(（]*(?: |[^\x20-\x7f])[^:：(（]*)(?:: |：)(.+)$/s;
const SENTENCE = /^(.+?[^.])(?:[.;] |[。；])(.+)$/s;

/** A remedy as (what to do, the rest): its first sentence, or what stands before a colon where that says enough. */
export function spoken(remedy: string): readonly [title: string, more: string] {
  const found = BEFORE_COLON.exec(remedy) ?? SENTENCE.exec(remedy);
  const [title, more] = found ? [found[1] ?? "", found[2] ?? ""] : [remedy, ""];
  const word = /^[a-z]+(?= )/.exec(more);
  return [title.replace(/[.。]$/, ""), word ? more.charAt(0).toUpperCase() + more.slice(1) : more];
}

function ofCause(why: Answer, row: Row): Action {
  const causes = why.table("causes");
  const [title, more] = spoken(causes.text(row, "remedy"));
  const saves = causes.cell(row, "saves") === true ? causes.number(row, "gain_ps") : null;
  const id = causes.text(row, "id");
  return {
    id,
    title,
    more,
    code: causes.text(row, "code"),
    evidence: causes.text(row, "text"),
    saves: saves === null ? null : saves * PS,
    takes: causes.length(row, "per_step_ps") * PS,
    limit: causes.text(row, "then_label"),
    tool: SHOWN_BY[id] ?? "",
  };
}

/** What rules advise beside the causes. */
function advised(overview: Answer, causes: ReadonlySet<string>): Action[] {
  const hints = overview.table("hints");
  return hints.rows
    .filter((row) => !causes.has(hints.text(row, "id")))
    .map((row) => ({
      id: hints.text(row, "id"),
      title: hints.text(row, "title"),
      more: "",
      code: "",
      evidence: hints.text(row, "evidence"),
      saves: hints.number(row, "gain_ms"),
      takes: null,
      limit: "",
      tool: hints.text(row, "tool"),
    }));
}

/** Whether one of the actions calls the function that a title names, e.g. `prefetch(`: then it is the same advice. */
function saysTheSame({ title }: Action, actions: readonly Action[]): boolean {
  const call = /\w+\(/.exec(title)?.[0];
  return call !== undefined && actions.some(({ title, more, code }) => `${title} ${more} ${code}`.includes(call));
}

/** What an action is worth at most, as far as it can be told. */
const size = ({ saves, takes }: Action) => saves ?? takes ?? 0;

/** The whole that savings are a part of, ms. */
export function wholeOf(why: Answer): number {
  return (why.number("period_ps") ?? why.number("window_ps") ?? 0) * PS;
}

/** At most so many, without those that would hardly be felt. */
export function actionsOf(overview: Answer, why: Answer, most: number): Action[] {
  const causes = why.table("causes");
  const known = new Set(causes.rows.map((row) => causes.text(row, "id")));
  const worthwhile = causes.rows
    .filter((row, rank) => causes.text(row, "remedy") && (rank === 0 || !NO_FAULT.includes(causes.text(row, "id"))))
    .filter((row) => causes.number(row, "gain_ps") !== 0)
    .map((row) => ofCause(why, row));
  const least = wholeOf(why) * SMALL;
  const led = worthwhile.filter((action, rank) => rank === 0 || size(action) > least);
  const ruled = advised(overview, known).filter((action) => size(action) > least && !saysTheSame(action, led));
  const rest = [...led.slice(1), ...ruled].sort((a, b) => size(b) - size(a));
  const ranked = [...led.slice(0, 1), ...rest];
  return ranked.filter((action, rank) => rank === ranked.findIndex(isSameAdvice(action))).slice(0, most);
}

/** Several causes may need the same thing: it is said once, for what it saves most. */
const isSameAdvice = (action: Action) => (other: Action) => other.title === action.title && other.more === action.more;
