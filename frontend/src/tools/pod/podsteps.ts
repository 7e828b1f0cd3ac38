/** Steps and workers as the pod's charts draw them; all figures are the tool's. */

import { groupBy } from "../../base/group";
import { t } from "../../base/messages";
import type { Answer, Table } from "../../base/table";

export interface PodStep {
  readonly number: string;
  /** As people say it: `Step 3` where the program only counts. */
  readonly name: string;
  readonly complete: boolean;
  readonly sentence: string;
  readonly medianMs: number;
  /** How many workers are far slower than the others. */
  readonly slowCount: number;
  /** One row per worker. */
  readonly workers: Table;
}

export function podSteps(answer: Answer): PodStep[] {
  const [steps, workers] = [answer.table("steps"), answer.table("workers")];
  const rows = groupBy(workers.rows, (row) => workers.text(row, "step"));
  return steps.rows.map((row) => {
    const [number, name] = [steps.text(row, "number"), steps.text(row, "name")];
    return {
      number,
      name: /^\d+$/.test(name) ? t("Step {name}", { name }) : name,
      complete: steps.cell(row, "complete") === true,
      sentence: steps.text(row, "sentence"),
      medianMs: steps.numberOrZero(row, "median_ms"),
      slowCount: steps.numberOrZero(row, "slow"),
      workers: workers.withRows(rows.get(number) ?? []),
    };
  });
}
