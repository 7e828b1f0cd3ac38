/** Is this session faster than another one, by how much, why, and is that noise? */

import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import { isReport } from "../api/client";
import { formatPercent } from "../base/format";
import { t } from "../base/messages";
import type { Table } from "../base/table";
import { linkTo, TIMELINE } from "../state/links";
import { Grid } from "../view/grid";
import type { ColumnSpecs } from "../view/gridmodel";
import { Findings, Notes } from "../view/problems";
import { Section } from "../view/section";
import styles from "../view/style/compare.css?inline";
import { addStyles } from "../view/styles";
import { Verdict } from "../view/verdict";
import { ViewLink } from "../view/viewlink";
import { BaseChoice, linkToLikelyBase } from "./compare/basechoice";
import { openedFiles, openFiles, useComparison } from "./compare/openedfiles";
import { Reasons } from "./compare/reasons";
import { StepStrips } from "./compare/stepstrips";
import { Waterfall } from "./compare/waterfall";
import { exportName, type PageProps } from "./page";
import { TableSection } from "./shared/tablesection";
import { StepChoice } from "./steps/stepchoice";

addStyles(styles);

const OPS_SPECS: ColumnSpecs = {
  match: { facet: true },
  marked: { facet: true },
  base_total_ps: { hidden: true },
  new_total_ps: { hidden: true },
};
const DIFFERENCE_SPECS: ColumnSpecs = { grade: { hidden: true } };

/** Parts are chosen by their ids, which are the same in every language. */
function opsSpecs(parts: Table): ColumnSpecs {
  const names = Object.fromEntries(parts.rows.map((row) => [parts.text(row, "id"), parts.text(row, "label")]));
  return { ...OPS_SPECS, part: { facet: true, hidden: true, label: parts.column("label")?.label ?? "", names } };
}

/** Files that are dropped anywhere on the page are opened. */
function FileDropZone({ children }: { children: ComponentChildren }) {
  const [isOver, setOver] = useState(false);
  if (isReport()) return children;
  return (
    <div
      class={isOver ? "drop over" : "drop"}
      onDragOver={(event) => {
        if (!event.dataTransfer?.types.includes("Files")) return;
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        void openFiles([...(event.dataTransfer?.files ?? [])]);
      }}
    >
      {children}
    </div>
  );
}

export default function ComparePage(props: PageProps) {
  const { answer, problem } = useComparison(props);
  return (
    <FileDropZone>
      <BaseChoice page={props} />
      {problem && <Findings problems={[problem]} />}
      {!problem && !answer && <p class="quiet">{t("Comparing …")}</p>}
      {answer && <ComparisonSections {...props} answer={answer} />}
    </FileDropZone>
  );
}

function ComparisonSections(props: PageProps) {
  const { answer, store } = props;
  const [parts, ops, causes] = [answer.table("parts"), answer.table("ops"), answer.table("causes")];
  const specs = useMemo(() => opsSpecs(parts), [parts]);
  const causesWithoutIds = useMemo(() => causes.withoutColumns(["id"]), [causes]);
  // A file has no timeline.
  const timeline = openedFiles.value ? undefined : linkTo(store, TIMELINE);
  const share = (id: string) => formatPercent(answer.number(id) ?? 0, 0);
  const matchedShares = { base: share("matched_base"), new: share("matched_new") };
  return (
    <>
      {answer.headline && <Verdict {...answer.headline} next={linkToLikelyBase(answer, store)} />}
      <Reasons table={answer.table("reasons")} />
      <Notes notes={answer.notes} store={store} />
      <TableSection page={props} id="differs" specs={DIFFERENCE_SPECS} />
      {parts.rows.length > 0 && (
        <>
          <div class="columns halves">
            <Waterfall answer={answer} />
            <StepStrips
              answer={answer}
              controls={
                <>
                  {timeline && <ViewLink {...timeline} label={t("Both timelines")} />}
                  {!(openedFiles.value?.base && openedFiles.value.new) && <StepChoice />}
                </>
              }
            />
          </div>
          <Section
            title={ops.label}
            doc={ops.doc}
            note={t("found on both sides with certainty: {base} and {new} of the time", matchedShares)}
          >
            <Grid table={ops} specs={specs} hideEmpty name={exportName(props, "ops")} id="ops" />
          </Section>
          <Section title={causes.label} doc={causes.doc}>
            <Grid table={causesWithoutIds} hideEmpty name={exportName(props, "causes")} id="causes" />
          </Section>
          <TableSection page={props} id="memory" />
        </>
      )}
    </>
  );
}
