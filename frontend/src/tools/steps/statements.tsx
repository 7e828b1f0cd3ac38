/** What else holds the steps up, beside the page's headline. */

import type { Answer } from "../../base/table";

export function Statements({ answer }: { answer: Answer }) {
  const bottlenecks = answer.table("bottlenecks");
  const said = bottlenecks.rows
    .filter((row) => bottlenecks.text(row, "part") !== "input")
    .map((row) => bottlenecks.text(row, "statement"))
    .filter(Boolean);
  if (!said.length) return null;
  return (
    <ul class="statements">
      {said.map((text) => (
        <li key={text}>{text}</li>
      ))}
    </ul>
  );
}
