/** What does an XLA program need memory for: at its peak, by source line, over its schedule? */

import { joinSentences, t } from "../base/messages";
import type { Row } from "../base/table";
import { useChoice } from "../view/choices";
import { Facts } from "../view/facts";
import { Grid } from "../view/grid";
import type { ColumnSpec } from "../view/gridmodel";
import { Notes } from "../view/problems";
import { Section } from "../view/section";
import { Switch } from "../view/switch";
import { Verdict } from "../view/verdict";
import { useOpDialog } from "./card/opcard";
import { exportName, type PageProps } from "./page";
import { AllocationMap, Curve } from "./xla/memory";

const HELD: Readonly<Record<string, ColumnSpec>> = {
  kind: { facet: true },
  category: { facet: true },
  share: { bar: true },
  begin: { hidden: true },
  end: { hidden: true },
  op_name: { hidden: true },
};
const SHARE: Readonly<Record<string, ColumnSpec>> = { share: { bar: true } };
const PROGRAMS: Readonly<Record<string, ColumnSpec>> = {
  space: { facet: true },
  space_id: { hidden: true },
  peak_bytes: { bar: true },
};

function Tables({ page }: { page: PageProps }) {
  const { answer, store } = page;
  const [held, sources, programs] = [answer.table("held"), answer.table("sources"), answer.table("programs")];
  const [open, dialog] = useOpDialog(store);
  const shown = (row: Row) => {
    const name = held.text(row, "name");
    const op = { table: held, row, name, program: answer.text("program"), events: name };
    return name ? { go: () => open(op) } : undefined;
  };
  const ofLine = (row: Row) => {
    const source = sources.text(row, "source");
    const ofSource = held.where({ source });
    // Values of no known line are together in a row that says so.
    const alive = ofSource.rows.length ? ofSource : held.where({ source: "" });
    const more = <Grid table={alive} specs={HELD} hideEmpty name={exportName(page, "line")} link={shown} />;
    const name = source.split("/").at(-1) ?? source;
    return { go: () => open({ table: sources, row, name, program: "", events: "", more }) };
  };
  const choose = (row: Row) => {
    const [program, space] = [programs.text(row, "program_id"), programs.text(row, "space_id")];
    const chosen = { module_name: program, memory_space: space, position: "" };
    store.go({ options: { ...store.view.peek().options, ...chosen } });
  };
  const position = answer.number("position");
  const when =
    position === answer.number("peak_position")
      ? t("at the peak")
      : t("at position {position}", { position: position ?? 0 });
  return (
    <>
      <Section title={`${sources.label} · ${when}`} doc={t("Live values by the source line that produced them.")}>
        <Grid table={sources} specs={SHARE} name={exportName(page, "sources")} id="sources" link={ofLine} />
      </Section>
      <Section title={`${held.label} · ${when}`} doc={held.doc}>
        <Grid table={held} specs={HELD} hideEmpty name={exportName(page, "held")} id="held" link={shown} />
        {dialog}
      </Section>
      <Section title={programs.label} doc={programs.doc} note={t("click one to see it")}>
        <Grid
          table={programs}
          specs={PROGRAMS}
          hideEmpty
          name={exportName(page, "programs")}
          id="programs"
          sort={[{ id: "peak_bytes", desc: true }]}
          onRow={choose}
        />
      </Section>
    </>
  );
}

export default function MemoryViewerPage(props: PageProps) {
  const { answer, store } = props;
  const { headline } = answer;
  const [curve, blocks] = [answer.table("curve"), answer.table("map")];
  const peak = answer.number("peak_position") ?? 0;
  const shown = answer.number("position") ?? peak;
  const [kept, setTimed] = useChoice("timed");
  const ran = answer.number("peak_us") !== null;
  const timed = kept !== "" && ran;
  const choose = (position: number) => {
    const options = store.view.peek().options;
    store.go({ options: { ...options, position: position === peak ? "" : `${position}` } });
  };
  return (
    <>
      {headline && <Verdict {...headline} />}
      <Notes notes={answer.notes} store={store} />
      <Facts answer={answer} />
      {curve.rows.length > 1 && (
        <Section
          title={curve.label}
          doc={t("Memory in use at each allocation and release.")}
          note={t("click a moment to see its live values")}
          controls={
            ran ? (
              <Switch
                label={t("By time")}
                doc={t("Shows the mean run time of instructions instead of their order.")}
                on={timed}
                set={(on) => setTimed(on ? "1" : "")}
              />
            ) : undefined
          }
        >
          <Curve
            headline={headline?.text ?? ""}
            curve={curve}
            peak={peak}
            shown={shown}
            timed={timed}
            choose={choose}
          />
        </Section>
      )}
      {blocks.rows.length > 0 && (
        <Section
          title={blocks.label}
          doc={joinSentences(blocks.doc, t("The schedule runs from left to right, memory from bottom to top."))}
        >
          <AllocationMap
            blocks={blocks}
            positions={answer.number("positions") ?? 1}
            shown={shown}
            dark={store.theme.value === "dark"}
          />
        </Section>
      )}
      <Tables page={props} />
    </>
  );
}
