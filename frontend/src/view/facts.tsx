/** A tool's facts, each with its unit and explanation; what is not known is left out, and what the page draws. */

import { formatValue } from "../base/format";
import type { Answer } from "../base/table";
import { Figure } from "./textparts";

export function Facts({ answer, except = [] }: { answer: Answer; except?: readonly string[] }) {
  const knownIds = answer.factIds.filter((id) => answer.fact(id).value !== null && !except.includes(id));
  if (!knownIds.length) return null;
  return (
    <dl class="figures">
      {knownIds.map((id) => {
        const { label, value, unit, doc, depends } = answer.fact(id);
        return <Figure key={id} label={label} value={formatValue(value, unit)} doc={doc} depends={depends} />;
      })}
    </dl>
  );
}
