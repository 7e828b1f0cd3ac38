/** What of a capture its findings make doubtful. */

import type { Problem } from "../api/types";

/** The findings by what they affect, which figures rest on; worst first. */
export type Doubts = ReadonlyMap<string, readonly Problem[]>;

/** Findings about the steps that the rules found; of steps that the reader chose they say nothing. */
const OF_FOUND_STEPS: ReadonlySet<string> = new Set([
  "no_steps",
  "one_step",
  "incomplete_steps",
  "input_outside_steps",
]);
const ORDER = { error: 0, warning: 1, info: 2 } as const;

/** Findings that name hosts concern those; of many hosts a finding names only some. */
function concerns({ where }: Problem, host: string, hosts: readonly string[]): boolean {
  const named = where.split(", ");
  const others = named.every((name) => hosts.includes(name));
  return !others || !hosts.includes(host) || named.includes(host);
}

export function doubtsOf(
  problems: readonly Problem[],
  host: string,
  hosts: readonly string[],
  ownSteps: boolean,
): Doubts {
  const found = new Map<string, Problem[]>();
  const told = problems
    .filter((problem) => !(ownSteps && OF_FOUND_STEPS.has(problem.code)) && concerns(problem, host, hosts))
    .sort((a, b) => ORDER[a.severity] - ORDER[b.severity]);
  for (const problem of told) {
    for (const name of problem.affects ?? []) found.set(name, [...(found.get(name) ?? []), problem]);
  }
  return found;
}
