/** What does an XLA program need memory for: at its peak, by source line, over its schedule? */

import { joinSentences, t } from "../base/messages";
import type { Row } from "../base/table";
import { useChoice, useChoices } from "../view/choices";
import { Facts } from "../view/facts";
import { Grid } from "../view/grid";
import { type ColumnSpecs, columnSpecs } from "../view/gridmodel";
import { Section } from "../view/section";
import { Switch } from "../view/switch";
import { useOpDialog } from "./card/opcard";
import { exportName, type PageProps } from "./page";
import { PageHead } from "./shared/pagehead";
import { TableSection } from "./shared/tablesection";
import { AllocationMap, MemoryCurve } from "./xla/programmemory";

const LIVE_SPECS: ColumnSpecs = {
  kind: { facet: true },
  category: { facet: true },
  share: { bar: true },
  ...columnSpecs("begin end op_name", { hidden: true }),
};
/** Facts that the curve and the map show. */
const DRAWN = ["peak_position", "position", "positions", "blocks"];
const SOURCE_SPECS: ColumnSpecs = { share: { bar: true } };
const PROGRAM_SPECS: ColumnSpecs = {
  space: { facet: true },
  space_id: { hidden: true },
  peak_bytes: { bar: true },
};

function LiveValueTables({ page }: { page: PageProps }) {
  const { answer, store } = page;
  const [values, sources, programs] = [answer.table("held"), answer.table("sources"), answer.table("programs")];
  const [open, dialog] = useOpDialog(store);
  const [, change] = useChoices();
  const openValue = (row: Row) => {
    const name = values.text(row, "name");
    const op = { table: values, row, name, program: answer.text("program"), eventName: name };
    return name ? { go: () => open(op) } : undefined;
  };
  const openLine = (row: Row) => {
    const source = sources.text(row, "source");
    const ofSource = values.where({ source });
    // Values of no known line are together in a row that says so.
    const liveValues = ofSource.rows.length ? ofSource : values.where({ source: "" });
    const extra = (
      <Grid table={liveValues} specs={LIVE_SPECS} hideEmpty name={exportName(page, "line")} link={openValue} />
    );
    const name = source.split("/").at(-1) ?? source;
    return { go: () => open({ table: sources, row, name, program: "", eventName: "", extra }) };
  };
  const choose = (row: Row) => {
    const [program, space] = [programs.text(row, "program_id"), programs.text(row, "space_id")];
    change({ module_name: program, memory_space: space, position: "" });
  };
  const position = answer.number("position");
  const when =
    position === answer.number("peak_position")
      ? t("at the peak")
      : t("at position {position}", { position: position ?? 0 });
  return (
    <>
      <Section title={`${sources.label} · ${when}`} doc={t("Live values by the source line that produced them.")}>
        <Grid table={sources} specs={SOURCE_SPECS} name={exportName(page, "sources")} id="sources" link={openLine} />
      </Section>
      <Section title={`${values.label} · ${when}`} doc={values.doc}>
        <Grid table={values} specs={LIVE_SPECS} hideEmpty name={exportName(page, "held")} id="held" link={openValue} />
        {dialog}
      </Section>
      <TableSection
        page={page}
        id="programs"
        specs={PROGRAM_SPECS}
        note={t("click one to see it")}
        sort={[{ id: "peak_bytes", desc: true }]}
        onRow={choose}
      />
    </>
  );
}

export default function MemoryViewerPage(props: PageProps) {
  const { answer, store } = props;
  const [curve, blocks] = [answer.table("curve"), answer.table("map")];
  const peak = answer.number("peak_position") ?? 0;
  const shown = answer.number("position") ?? peak;
  const [timeChoice, setTimeChoice] = useChoice("timed");
  const hasTimes = answer.number("peak_us") !== null;
  const isByTime = timeChoice !== "" && hasTimes;
  const [, setPosition] = useChoice("position");
  return (
    <>
      <PageHead page={props} />
      <Facts answer={answer} except={DRAWN} />
      {curve.rows.length > 1 && (
        <Section
          title={curve.label}
          doc={t("Memory in use at each allocation and release.")}
          note={t("click a moment to see its live values")}
          controls={
            hasTimes ? (
              <Switch
                label={t("By time")}
                doc={t("Shows the mean run time of instructions instead of their order.")}
                on={isByTime}
                set={(on) => setTimeChoice(on ? "1" : "")}
              />
            ) : undefined
          }
        >
          <MemoryCurve
            headline={answer.headline?.text ?? ""}
            curve={curve}
            peakPosition={peak}
            shownPosition={shown}
            isByTime={isByTime}
            choose={(position) => setPosition(position === peak ? "" : `${position}`)}
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
      <LiveValueTables page={props} />
    </>
  );
}
