/** Who holds a device's memory at its peak, how its use goes over time, and what does not come back? */

import { useMemo } from "preact/hooks";
import { clamp } from "../base/clamp";
import { formatTime, formatValue } from "../base/format";
import { joinSentences, t } from "../base/messages";
import type { Answer, Row, Table } from "../base/table";
import type { View } from "../base/urlcodec";
import { linkTo, TIMELINE } from "../state/links";
import { CALL_VIEWS, TableCalls } from "../view/calls";
import { useChoice, useChoices } from "../view/choices";
import { Grid } from "../view/grid";
import type { ColumnSpecs } from "../view/gridmodel";
import { Findings } from "../view/problems";
import { Section } from "../view/section";
import { Select } from "../view/select";
import { Figure } from "../view/textparts";
import { Verdict } from "../view/verdict";
import { ViewLink } from "../view/viewlink";
import { type CardOp, useOpDialog } from "./card/opcard";
import { MemoryGrowth } from "./memory/memorygrowth";
import { MemoryTimeline } from "./memory/memorytimeline";
import { useShownAnswer } from "./memory/shownanswer";
import type { MemoryUsage } from "./memory/usagechart";
import { exportName, type PageProps } from "./page";
import { TableSection } from "./shared/tablesection";

const ALLOCATION_SPECS: ColumnSpecs = {
  share: { bar: true },
  region_type: { facet: true },
  data_type: { facet: true },
  line: { path: true },
  event: { hidden: true },
};
const MEMORY_FIGURES = `
  peak_bytes peak_lifetime_bytes capacity_bytes stack_bytes heap_bytes free_bytes fragmentation allocations
  deallocations`
  .trim()
  .split(/\s+/);

const PEAK_FIRST = [{ id: "peak_bytes", desc: true }];

const VIEWS = [["", t("as a table")], ...CALL_VIEWS] as const;

function memoryRow(answer: Answer): Row | undefined {
  const memories = answer.table("memories");
  return memories.where({ host: answer.text("host"), memory_id: answer.text("memory_id") }).rows[0];
}

function MemoryFigures({ memories, row }: { memories: Table; row: Row }) {
  return (
    <dl class="figures">
      {MEMORY_FIGURES.map((id) => {
        const { label, unit, doc } = memories.column(id) ?? { label: id, unit: "", doc: "" };
        const note =
          id === "peak_bytes" ? t("at {time}", { time: formatTime(memories.numberOrZero(row, "peak_ms")) }) : undefined;
        return (
          <Figure key={id} label={label} value={formatValue(memories.cell(row, id), unit)} note={note} doc={doc} />
        );
      })}
    </dl>
  );
}

function Memories({ answer, page }: { answer: Answer; page: PageProps }) {
  const memories = answer.table("memories");
  if (memories.rows.length < 2) return null;
  const choose = (row: Row) => {
    const change: Partial<View> = { options: { memory: memories.text(row, "memory_id") } };
    const host = memories.text(row, "host");
    page.store.go(page.session.hosts.length > 1 ? { ...change, host } : change);
  };
  return (
    <TableSection
      page={{ ...page, answer }}
      id="memories"
      doc={joinSentences(memories.doc, t("Click one to see it."))}
      note={t("Shown: {memory}. Click another one to see it.", { memory: answer.text("memory_id") })}
      sort={PEAK_FIRST}
      onRow={choose}
    />
  );
}

/** A millisecond around a moment, as the timeline's address gives its window: in ns. */
function windowAround(ms: number): string {
  return `${Math.round((ms - 0.5) * 1e6)}~${Math.round((ms + 0.5) * 1e6)}`;
}

type OpenCard = (table: Table, row: Row) => { go: () => void } | undefined;

/** What a row of allocations is about, at the event that stands for them. */
function cardOpOfAllocation(answer: Answer, table: Table, row: Row): CardOp | undefined {
  const [name, number] = [table.text(row, "op_name"), table.number(row, "event")];
  const event = number === null ? undefined : { host: answer.text("host"), event: number };
  return event && { table, row, name, program: "", eventName: name, event };
}

function LiveAllocations({ answer, row, page, open }: { answer: Answer; row: Row; page: PageProps; open: OpenCard }) {
  const allocations = answer.table("held");
  const { store } = page;
  const momentMs = answer.number("moment_ms") ?? 0;
  const [{ at }, change] = useChoices();
  const isMomentChosen = Boolean(at);
  const [view, setView] = useChoice("held.as");
  const offsetMs = answer.number("timeline_offset_ms") ?? 0;
  const timeline = linkTo(store, TIMELINE, { options: { t: windowAround(momentMs + offsetMs) } });
  return (
    <Section
      title={
        isMomentChosen
          ? t("Allocations at {time}", { time: formatTime(momentMs) })
          : t("Allocations at the peak, {time}", {
              time: formatTime(answer.table("memories").numberOrZero(row, "peak_ms")),
            })
      }
      note={view ? undefined : t("click a row for the line that allocates it")}
      doc={t(
        "Everything alive at this moment: what the capture saw being allocated and not yet freed, and as one remainder what was there before.",
      )}
      controls={
        <>
          <Select label={allocations.label} value={view} options={VIEWS} choose={setView} />
          {timeline && <ViewLink {...timeline} label={t("This moment on the timeline")} />}
          {isMomentChosen && (
            <button type="button" class="button" onClick={() => change({ at: "" })}>
              {t("Back to the peak")}
            </button>
          )}
        </>
      }
    >
      {view ? (
        <TableCalls answer={answer} table="held" view={view} store={store} />
      ) : (
        <Grid
          table={allocations}
          specs={ALLOCATION_SPECS}
          hideEmpty
          name={exportName(page, "allocations")}
          id="held"
          sort={[{ id: "total_bytes", desc: true }]}
          link={(allocation) => open(allocations, allocation)}
        />
      )}
    </Section>
  );
}

export default function MemoryPage(props: PageProps) {
  const { answer: first, store } = props;
  const { answer, problem } = useShownAnswer(props);
  const { options } = store.view.value;
  const isSameMemory = ["host", "memory_id"].every((name) => first.text(name) === answer.text(name));
  const row = memoryRow(answer);
  const growth = answer.table("growth");
  const [openCard, dialog] = useOpDialog(store);
  const open: OpenCard = (table, allocation) => {
    const op = cardOpOfAllocation(answer, table, allocation);
    return op && { go: () => openCard(op) };
  };
  const points = answer.table("usage");
  const usage = useMemo((): MemoryUsage => {
    const captureMs = [answer.number("first_ms") ?? 0, answer.number("last_ms") ?? 0] as const;
    const limit = (text: string | undefined, otherwise: number) =>
      text ? clamp(Number(text), ...captureMs) : otherwise;
    return {
      points,
      captureMs,
      shownMs: [limit(options.from, captureMs[0]), limit(options.to, captureMs[1])],
      momentMs: answer.number("moment_ms") ?? 0,
    };
  }, [answer, options.from, options.to]);
  if (!row) return <p class="nothing">{t("No memory reported its allocations.")}</p>;
  const optionChange = (more: Record<string, string>) => ({ options: { ...store.view.peek().options, ...more } });
  return (
    <>
      {answer.headline && <Verdict {...answer.headline} />}
      {problem && <Findings problems={[problem]} />}
      <MemoryFigures memories={answer.table("memories")} row={row} />
      <MemoryTimeline
        key={`${answer.text("host")}\n${answer.text("memory_id")}`}
        usage={usage}
        headline={answer.headline?.text ?? ""}
        coarsePoints={isSameMemory ? first.table("usage") : points}
        zoom={(from, to) => store.replace(optionChange({ from: from.toFixed(6), to: to.toFixed(6) }))}
        choose={(ms) => store.go(optionChange({ at: ms.toFixed(6) }))}
        name={exportName(props, "usage")}
      />
      <LiveAllocations answer={answer} row={row} page={props} open={open} />
      <MemoryGrowth
        steps={answer.table("steps")}
        growth={growth}
        name={exportName(props, "steps")}
        link={(left) => open(growth, left)}
      />
      <Memories answer={answer} page={props} />
      {dialog}
    </>
  );
}
