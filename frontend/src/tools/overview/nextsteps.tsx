/** What to do next: hints with their evidence and the most they can win, then the general advice. */

import { time } from "../../base/format";
import type { Answer, Row, Table } from "../../base/table";
import type { Store } from "../../state/store";
import { Guide } from "../../view/rich";
import { Section } from "../../view/section";
import { GoLink, LevelMark, level } from "../../view/verdict";
import { linkTo } from "../page";

interface HintProps {
  readonly hints: Table;
  readonly row: Row;
  readonly store: Store;
  /** What the gain is a part of: the average step, or the capture where there are no steps. */
  readonly per: string;
}

function Hint({ hints, row, store, per }: HintProps) {
  const gain = hints.length(row, "gain_ms");
  const next = linkTo(store, hints.text(row, "tool"));
  return (
    <li class="hint">
      <LevelMark of={level(hints.text(row, "level"))} />
      <div>
        <b>{hints.text(row, "title")}</b>
        {gain > 0 && (
          <span class="gain" data-tip={hints.column("gain_ms")?.doc}>
            at most {time(gain)} {per}
          </span>
        )}
        <div>
          {hints.text(row, "evidence")} {next && <GoLink {...next} />}
        </div>
      </div>
    </li>
  );
}

/** Where to look on each side. */
const SIDES = [
  {
    title: "To make the host's time shorter",
    tools: [
      ["input_pipeline_analyzer", "what the host does for input, op by op"],
      ["trace_viewer", "the host's threads show what ran when"],
    ],
  },
  {
    title: "To make the device's time shorter",
    tools: [
      ["framework_op_stats", "which operations take most time"],
      ["trace_viewer", "the timeline of each device"],
    ],
  },
] as const;

export function NextSteps({ answer, store }: { answer: Answer; store: Store }) {
  const [hints, guides] = [answer.table("hints"), answer.table("guides")];
  const per = answer.table("steps").rows.length > 0 ? "per step" : "of the capture";
  return (
    <Section title={hints.label} doc={hints.doc}>
      {hints.rows.length > 0 && (
        <ol class="hints">
          {hints.rows.map((row) => (
            <Hint key={hints.text(row, "id")} hints={hints} row={row} store={store} per={per} />
          ))}
        </ol>
      )}
      {SIDES.map(({ title, tools }) => (
        <div class="tips" key={title}>
          <h3>{title}</h3>
          <ul>
            {tools.map(([name, text]) => {
              const link = linkTo(store, name);
              return (
                link && (
                  <li key={name}>
                    <GoLink {...link} /> ({text})
                  </li>
                )
              );
            })}
          </ul>
        </div>
      ))}
      <div class="tips">
        <h3>{guides.label}</h3>
        <ul>
          {guides.rows.map((row) => (
            <li key={guides.text(row, "address")}>
              <Guide url={guides.text(row, "address")} text={guides.text(row, "label")} />
            </li>
          ))}
        </ul>
      </div>
    </Section>
  );
}
