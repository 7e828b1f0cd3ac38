/** Who holds a device's memory at its peak, how its use goes over time, and what does not come back? */

import { useMemo } from "preact/hooks";
import type { Row, Table } from "../base/datatable";
import { count, memory, percent, time } from "../base/format";
import type { View } from "../base/urlcodec";
import { Grid } from "../view/grid";
import { type ColumnSpec, withoutEmpty } from "../view/gridmodel";
import { ProblemLine } from "../view/problems";
import { Figure } from "../view/rich";
import { Section } from "../view/section";
import { GoLink, type Level, Verdict } from "../view/verdict";
import { tablesIn, useTables } from "./memory/answer";
import type { Course } from "./memory/course";
import { Growth } from "./memory/growth";
import { MemoryTimeline } from "./memory/timeline";
import { exportName, linkTo, type PageProps } from "./page";

const BREAKDOWN: Readonly<Record<string, ColumnSpec>> = {
  share: { bar: true },
  region_type: { facet: true },
  data_type: { facet: true },
};

function chosenRow(summary: Table): Row | undefined {
  const [host, id] = [summary.property("host"), summary.property("memory_id")];
  return summary.rows.find((row) => summary.text(row, "host") === host && summary.text(row, "memory_id") === id);
}

/** From this share of the capacity on there is little room left. */
const TIGHT = 0.9;
const FRAGMENTED = 0.5;
const MUCH = 0.25;

function verdict(summary: Table, row: Row, breakdown: Table): { text: string; level: Level } {
  const [peak, capacity] = [summary.number(row, "peak_bytes"), summary.number(row, "capacity_bytes")];
  const share = capacity > 0 ? peak / capacity : 0;
  const id = summary.text(row, "memory_id");
  const before = breakdown.rows.find((each) => breakdown.cell(each, "since_ms") === null);
  const earlier = before ? breakdown.number(before, "share") : 0;
  const holder = breakdown.rows.find((each) => breakdown.cell(each, "since_ms") !== null) ?? before;
  const parts = [
    `${/^\d+$/.test(id) ? `Memory ${id}` : id} peaks at ${memory(peak)}, ${percent(share, 0)} of its ${memory(capacity)}`,
    earlier > MUCH ? `, ${percent(earlier, 0)} of it ${breakdown.text(before as Row, "op_name")}` : "",
    ".",
    holder && holder !== before
      ? ` The largest allocation: ${breakdown.text(holder, "op_name")}, ${memory(breakdown.number(holder, "total_bytes"))}.`
      : "",
  ];
  const worn = summary.number(row, "fragmentation") > FRAGMENTED && share > FRAGMENTED;
  return { text: parts.join(""), level: share > TIGHT || worn ? "warn" : "ok" };
}

function Figures({ summary, row }: { summary: Table; row: Row }) {
  const amount = (id: string) => memory(summary.number(row, id));
  const doc = (id: string) => summary.column(id)?.doc;
  const label = (id: string) => summary.column(id)?.label ?? id;
  const peak = `at ${time(summary.number(row, "peak_ms"))}`;
  return (
    <dl class="figures">
      <Figure label="Peak in the capture" value={amount("peak_bytes")} note={peak} doc={doc("peak_bytes")} />
      {["peak_lifetime_bytes", "capacity_bytes", "stack_bytes", "heap_bytes", "free_bytes"].map((id) => (
        <Figure key={id} label={label(id)} value={amount(id)} doc={doc(id)} />
      ))}
      <Figure
        label={label("fragmentation")}
        value={percent(summary.number(row, "fragmentation"))}
        doc={doc("fragmentation")}
      />
      {["allocations", "deallocations"].map((id) => (
        <Figure key={id} label={label(id)} value={count(summary.number(row, id))} doc={doc(id)} />
      ))}
    </dl>
  );
}

function Memories({ summary, page }: { summary: Table; page: PageProps }) {
  if (summary.rows.length < 2) return null;
  const choose = (row: Row) => {
    const change: Partial<View> = { options: { memory: summary.text(row, "memory_id") } };
    const host = summary.text(row, "host");
    page.store.go(page.session.hosts.length > 1 ? { ...change, host } : change);
  };
  return (
    <Section
      title="Memories"
      doc="Every allocator or device that reported its allocations; click one to see it."
      note={`${summary.property("memory_id")} is shown; click another one to see it`}
    >
      <Grid
        table={summary}
        specs={withoutEmpty(summary, {})}
        name={exportName(page, "memories")}
        id="memories"
        sort={[{ id: "peak_bytes", desc: true }]}
        onRow={choose}
      />
    </Section>
  );
}

/** A millisecond around a moment, as the timeline's address gives its window: in ns. */
function around(ms: number): string {
  return `${Math.round((ms - 0.5) * 1e6)}~${Math.round((ms + 0.5) * 1e6)}`;
}

function Holdings({ tables, row, page }: { tables: { summary: Table; breakdown: Table }; row: Row; page: PageProps }) {
  const { summary, breakdown } = tables;
  const { store } = page;
  const moment = summary.figure("moment_ms") ?? 0;
  const specs = useMemo(() => withoutEmpty(breakdown, BREAKDOWN), [breakdown]);
  const chosen = Boolean(store.view.value.options.at);
  const place = { tool: "trace_viewer", options: { t: around(moment + (summary.figure("timeline_offset_ms") ?? 0)) } };
  const known = linkTo(store, "trace_viewer");
  const timeline = known && { ...known, href: store.href(place), go: () => store.go(place) };
  const back = () => store.go({ options: { ...store.view.peek().options, at: "" } });
  return (
    <Section
      title={
        chosen ? `Allocations at ${time(moment)}` : `Allocations at the peak, ${time(summary.number(row, "peak_ms"))}`
      }
      doc="Everything alive at this moment: what the capture saw being allocated and not yet freed, and as one remainder what was there before."
      controls={
        <>
          {timeline && <GoLink {...timeline} label="This moment on the timeline" />}
          {chosen && (
            <button type="button" class="button" onClick={back}>
              Back to the peak
            </button>
          )}
        </>
      }
    >
      <Grid
        table={breakdown}
        specs={specs}
        name={exportName(page, "allocations")}
        id="held"
        sort={[{ id: "total_bytes", desc: true }]}
      />
    </Section>
  );
}

export default function MemoryPage(props: PageProps) {
  const { data, store } = props;
  const { tables, problem } = useTables(props);
  const { summary, timeline, breakdown, steps, growth } = tables;
  const { options } = store.view.value;
  const first = useMemo(() => tablesIn(data), [data]);
  const same = ["host", "memory_id"].every((name) => first.summary.property(name) === summary.property(name));
  const row = chosenRow(summary);
  const course = useMemo((): Course => {
    const whole = [summary.figure("first_ms") ?? 0, summary.figure("last_ms") ?? 0] as const;
    const limit = (text: string | undefined, otherwise: number) =>
      text ? Math.min(whole[1], Math.max(whole[0], Number(text))) : otherwise;
    return {
      points: timeline,
      whole,
      shown: [limit(options.from, whole[0]), limit(options.to, whole[1])],
      moment: summary.figure("moment_ms") ?? 0,
    };
  }, [summary, timeline, options.from, options.to]);
  if (!row) return <p class="nothing">No memory reported its allocations.</p>;
  const change = (more: Record<string, string>) => ({ options: { ...store.view.peek().options, ...more } });
  return (
    <>
      <Verdict {...verdict(summary, row, breakdown)} />
      {problem && (
        <ul class="problems">
          <ProblemLine problem={problem} />
        </ul>
      )}
      <Figures summary={summary} row={row} />
      <MemoryTimeline
        key={`${summary.property("host")}\n${summary.property("memory_id")}`}
        course={course}
        coarse={same ? first.timeline : timeline}
        zoom={(from, to) => store.replace(change({ from: from.toFixed(6), to: to.toFixed(6) }))}
        choose={(ms) => store.go(change({ at: ms.toFixed(6) }))}
        name={exportName(props, "course")}
      />
      <Holdings tables={tables} row={row} page={props} />
      <Growth steps={steps} growth={growth} name={exportName(props, "steps")} />
      <Memories summary={summary} page={props} />
    </>
  );
}
