/** Capture health: what is missing from or odd about the capture, folded into one line. */

import { plural } from "../base/format";
import type { Store } from "../state/store";
import { ProblemLine } from "../view/problems";

const ORDER = { error: 0, warning: 1, info: 2 } as const;

export function Health({ store }: { store: Store }) {
  const problems = store.details.state.value.value?.problems ?? [];
  if (!problems.length) return null;
  const sorted = [...problems].sort((a, b) => ORDER[a.severity] - ORDER[b.severity]);
  const [first] = sorted;
  const amiss = problems.filter(({ severity, affects }) => severity !== "info" || affects?.length).length;
  return (
    <details class={`health ${first?.severity ?? "info"}`} open={first?.severity === "error"}>
      <summary>
        Capture health: {amiss ? plural(amiss, "finding") : "nothing amiss"}{" "}
        <span class="quiet">({first?.message})</span>
      </summary>
      <ul class="problems">
        {sorted.map((problem, place) => (
          <ProblemLine key={place} problem={problem} />
        ))}
      </ul>
    </details>
  );
}
