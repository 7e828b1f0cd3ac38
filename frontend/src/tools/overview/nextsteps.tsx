/** What to do next: hints with their evidence and the most they can win, then the general advice. */

import type { Row, Table } from "../../base/datatable";
import { time } from "../../base/format";
import type { Store } from "../../state/store";
import { Guide } from "../../view/rich";
import { Section } from "../../view/section";
import { GoLink, LevelMark, level } from "../../view/verdict";
import { linkTo } from "../page";

interface NextStepsProps {
  readonly hints: Table;
  readonly recommendation: Table;
  readonly store: Store;
  readonly hasSteps: boolean;
}

interface HintProps {
  readonly hints: Table;
  readonly row: Row;
  readonly store: Store;
  /** What the gain is a part of: the average step, or the capture where there are no steps. */
  readonly per: string;
}

function Hint({ hints, row, store, per }: HintProps) {
  const gain = hints.cell(row, "gain_ms");
  const next = linkTo(store, hints.text(row, "tool"));
  return (
    <li class="hint">
      <LevelMark of={level(hints.text(row, "level"))} />
      <div>
        <b>{hints.text(row, "title")}</b>
        {typeof gain === "number" && gain > 0 && (
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

/** The statements beside the main one, which the page's verdict says already. */
function statements(recommendation: Table): string[] {
  const names = recommendation.propertyNames.filter((name) => name.endsWith("_statement"));
  return [...new Set(names.map((name) => recommendation.property(name)).filter(Boolean))];
}

interface Tip {
  readonly text: string;
  /** A page of the web that it leads to; mostly none. */
  readonly url: string;
}

/** `input_pipeline_analyzer (especially …)`: the leading tool name becomes a link where the tool exists. */
function TipText({ text, url, store }: Tip & { store: Store }) {
  const [, name = "", rest = ""] = /^([a-z_]+)@?\b(.*)$/s.exec(text) ?? [];
  const next = linkTo(store, name);
  if (!next)
    return (
      <>
        {text} <Guide url={url} />
      </>
    );
  return (
    <>
      <GoLink {...next} /> {rest.trim()}
    </>
  );
}

/** Whether the text sends people to a tool that this session does not have. */
function isDeadEnd(text: string, store: Store): boolean {
  const name = /^([a-z]+_[a-z_]+)@? \(/.exec(text)?.[1];
  return name !== undefined && linkTo(store, name) === undefined;
}

interface Group {
  readonly title: string;
  readonly tips: Tip[];
}

function tipGroups(recommendation: Table, store: Store): Group[] {
  const useless = recommendation.property("non_bottleneck_tip_types").split(",");
  const groups = new Map<string, Group>();
  for (const row of recommendation.rows) {
    const kind = recommendation.text(row, "tip_type");
    if (kind === "faq" || (useless.includes(kind) && kind !== "")) continue;
    const link = recommendation.text(row, "link");
    if (isDeadEnd(link, store)) continue;
    const title = recommendation.text(row, "description");
    const group = groups.get(title) ?? { title, tips: [] };
    group.tips.push({ text: link, url: recommendation.text(row, "url") });
    groups.set(title, group);
  }
  return [...groups.values()];
}

export function NextSteps({ hints, recommendation, store, hasSteps }: NextStepsProps) {
  const said = statements(recommendation);
  return (
    <Section title="What to do next" doc="Hints come from this capture; the largest possible gain stands first.">
      {hints.rows.length > 0 && (
        <ol class="hints">
          {hints.rows.map((row, place) => (
            <Hint key={place} hints={hints} row={row} store={store} per={hasSteps ? "per step" : "of the capture"} />
          ))}
        </ol>
      )}
      {said.length > 0 && (
        <ul class="statements">
          {said.map((text) => (
            <li key={text}>{text}</li>
          ))}
        </ul>
      )}
      {tipGroups(recommendation, store).map(({ title, tips }) => (
        <div class="tips" key={title}>
          <h3>{title}</h3>
          <ul>
            {tips.map((tip) => (
              <li key={tip.text}>
                <TipText {...tip} store={store} />
              </li>
            ))}
          </ul>
        </div>
      ))}
    </Section>
  );
}
