/** Which figures the findings about a capture make doubtful. */

import type { Problem } from "../base/schema";

/** Findings by the aspect of the capture that they affect, on which figures depend; the worst first. */
export type Doubts = ReadonlyMap<string, readonly Problem[]>;

/** Findings about the steps that the rules found, which do not concern events that the reader chose as steps. */
const ABOUT_FOUND_STEPS: ReadonlySet<string> = new Set([
  "no_steps",
  "one_step",
  "incomplete_steps",
  "input_outside_steps",
]);
const SEVERITY_ORDER = { error: 0, warning: 1, info: 2 } as const;

/** The problems in order: errors before warnings before notes. */
export function worstFirst(problems: readonly Problem[]): Problem[] {
  return [...problems].sort((a, b) => SEVERITY_ORDER[a.severity] - SEVERITY_ORDER[b.severity]);
}

/** Whether a finding concerns the host that is shown: one that names hosts concerns these alone. */
function concerns({ where }: Problem, host: string, hosts: readonly string[]): boolean {
  const named = where.split(", ");
  const namesHosts = named.every((name) => hosts.includes(name));
  return !namesHosts || !hosts.includes(host) || named.includes(host);
}

export function doubtsOf(
  problems: readonly Problem[],
  host: string,
  hosts: readonly string[],
  readerChoseSteps: boolean,
): Doubts {
  const doubts = new Map<string, Problem[]>();
  const relevant = problems.filter(
    (problem) => !(readerChoseSteps && ABOUT_FOUND_STEPS.has(problem.code)) && concerns(problem, host, hosts),
  );
  for (const problem of worstFirst(relevant)) {
    for (const name of problem.affects ?? []) doubts.set(name, [...(doubts.get(name) ?? []), problem]);
  }
  return doubts;
}
