/** Two workers beside one another: their typical step, and what they spend different times on, name by name. */

import { largest } from "../../base/extent";
import { formatTime } from "../../base/format";
import { t } from "../../base/messages";
import type { Answer, Row, Table } from "../../base/table";
import { linkToSimilarEvents } from "../../state/links";
import type { Store } from "../../state/store";
import { Grid } from "../../view/grid";
import { Section } from "../../view/section";
import { LabelledSelect } from "../../view/select";
import { StackBar } from "../../view/stackbar";
import { partPieces } from "../steps/stepparts";

interface PairProps {
  readonly answer: Answer;
  readonly store: Store;
  readonly choose: (option: "worker" | "other", worker: string) => void;
  readonly name: string;
}

function WorkerBar({ matrix, row, longestMs }: { matrix: Table; row: Row; longestMs: number }) {
  const total = matrix.numberOrZero(row, "total_ms");
  return (
    <div class="pair-bar">
      <span>{matrix.text(row, "worker")}</span>
      <div>
        <div style={{ width: `${(100 * total) / longestMs}%` }}>
          <StackBar pieces={partPieces(matrix, row)} totalMs={total} />
        </div>
      </div>
      <span class="number">{formatTime(total)}</span>
    </div>
  );
}

export function WorkerPair({ answer, store, choose, name }: PairProps) {
  const [matrix, differences] = [answer.table("matrix"), answer.table("differences")];
  if (!differences.rows.length) return null;
  const [worker, other] = [answer.text("worker"), answer.text("other")];
  const workers = matrix.distinct("worker").map((name) => [name, name] as const);
  const workerRows = [worker, other]
    .map((wanted) => matrix.rows.find((row) => matrix.text(row, "worker") === wanted))
    .filter((row) => row !== undefined);
  const longestMs = largest(workerRows.map((row) => matrix.numberOrZero(row, "total_ms"))) || 1;
  return (
    <Section
      title={t("{worker} compared with {other}", { worker, other })}
      doc={differences.doc}
      controls={
        <>
          <LabelledSelect label={t("Worker")} value={worker} options={workers} choose={(to) => choose("worker", to)} />
          <LabelledSelect
            label={t("compared with")}
            value={other}
            options={workers}
            choose={(to) => choose("other", to)}
          />
        </>
      }
    >
      {workerRows.map((row) => (
        <WorkerBar key={matrix.text(row, "worker")} matrix={matrix} row={row} longestMs={longestMs} />
      ))}
      <Grid
        table={differences}
        hideEmpty
        name={name}
        id="differences"
        link={(row) => linkToSimilarEvents(store, differences.text(row, "name"))}
      />
    </Section>
  );
}
