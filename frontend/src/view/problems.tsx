/** Problems as the server words them: what happened, what to do, and the details folded. */

import type { ComponentChildren } from "preact";
import type { Problem } from "../api/types";
import { Icon, type IconName } from "./icons";

const ICONS: Readonly<Record<Problem["severity"], IconName>> = { error: "error", warning: "warning", info: "info" };

/** One finding in a list. */
export function ProblemLine({ problem }: { problem: Problem }) {
  return (
    <li class={`problem ${problem.severity}`}>
      <Icon name={ICONS[problem.severity] ?? "info"} />
      <div>
        <b>{problem.message}</b> {problem.remedy}
        {problem.where && <div class="where">{problem.where}</div>}
      </div>
    </li>
  );
}

interface ProblemPageProps {
  readonly problem: Problem;
  readonly children?: ComponentChildren;
}

/** A whole page that says why there is nothing to see. */
export function ProblemPage({ problem, children }: ProblemPageProps) {
  return (
    <section class={`state ${problem.severity}`} role={problem.severity === "error" ? "alert" : "status"}>
      <h2>
        <Icon name={ICONS[problem.severity] ?? "info"} /> {problem.message}
      </h2>
      {problem.remedy && <p>{problem.remedy}</p>}
      <div class="actions">{children}</div>
      {(problem.where || problem.code) && (
        <details>
          <summary>Details</summary>
          <pre>
            {problem.code}
            {problem.where && `\n${problem.where}`}
          </pre>
        </details>
      )}
    </section>
  );
}
