/** Problems as the server words them: what happened, what to do, and the details folded. */

import type { ComponentChildren } from "preact";
import { t } from "../base/messages";
import type { Problem } from "../base/schema";
import { worstFirst } from "../state/doubts";
import type { Store } from "../state/store";
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

/** Findings as a list, the worst first; `alert` where they are news. */
export function Findings({ problems, alert }: { problems: readonly Problem[]; alert?: boolean }) {
  return (
    <ul class="problems" role={alert ? "alert" : undefined}>
      {worstFirst(problems).map((problem, place) => (
        <ProblemLine key={place} problem={problem} />
      ))}
    </ul>
  );
}

/** What a tool notes about its figures; what Capture health says already is not said twice. */
export function Notes({ notes, store }: { notes: readonly Problem[]; store: Store }) {
  const healthMessages = new Set(store.details.state.value.value?.problems.map(({ message }) => message));
  const ownNotes = notes.filter(({ message, severity }) => severity !== "info" && !healthMessages.has(message));
  if (!ownNotes.length) return null;
  return (
    <ul class="problems">
      {ownNotes.map((note) => (
        <ProblemLine key={note.message} problem={note} />
      ))}
    </ul>
  );
}

/** Which ranks are missing: whatever tells who is late does so without them. */
export function MissingRanks({ notes }: { notes: readonly Problem[] }) {
  const missing = notes.filter(({ code }) => code === "ranks_missing");
  return missing.length ? <Findings problems={missing} /> : null;
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
          <summary>{t("Details")}</summary>
          <pre>
            {problem.code}
            {problem.where && `\n${problem.where}`}
          </pre>
        </details>
      )}
    </section>
  );
}
