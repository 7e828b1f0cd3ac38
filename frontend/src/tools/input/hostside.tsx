/** What the host's input pipeline spends its time on, op by op, and the advice that fits. */

import type { Table } from "../../base/datatable";
import { time } from "../../base/format";
import { part } from "../../base/parts";
import { eventsOf } from "../../state/links";
import { Grid } from "../../view/grid";
import type { ColumnSpec } from "../../view/gridmodel";
import { Guide } from "../../view/rich";
import { Section } from "../../view/section";
import { type Piece, StackBar, StackLegend } from "../../view/stackbar";
import { exportName, type PageProps } from "../page";

/** The parts, the property that measures each (in µs), and how the advice about it begins. */
const CATEGORIES: readonly (readonly [string, string, RegExp])[] = [
  ["input_demanded", "demanded_file_read_us", /^reading .* on demand/i],
  ["input_advanced", "advanced_file_read_us", /^reading .* in advance/i],
  ["input_preprocessing", "preprocessing_us", /preprocessing/i],
  ["input_enqueue", "enqueue_us", /^enqueuing/i],
  ["input_other", "unclassified_nonequeue_us", /^other/i],
];

const SPECS: Readonly<Record<string, ColumnSpec>> = {
  opName: { label: "Input op" },
  timeInMs: { label: "Total time" },
  timeInPercent: { label: "Total share" },
  selfTimeInMs: { label: "Self time" },
  selfTimeInPercent: { label: "Self share", bar: true },
  category: { facet: true },
};

interface HostSideProps {
  readonly ops: Table;
  readonly recommendation: Table;
  readonly page: PageProps;
}

interface Advice {
  readonly text: string;
  readonly url: string;
  readonly ms: number;
}

/** Advice about parts that took time, largest first; advice that belongs to no part comes last. */
export function fittingAdvice(recommendation: Table, milliseconds: (property: string) => number): Advice[] {
  return recommendation.rows
    .map((row) => {
      const text = recommendation.text(row, "link");
      const category = CATEGORIES.find(([, , start]) => start.test(text));
      return { text, url: recommendation.text(row, "url"), ms: category ? milliseconds(category[1]) : -1 };
    })
    .filter(({ ms }) => ms !== 0)
    .sort((a, b) => b.ms - a.ms);
}

export function HostSide({ ops, recommendation, page }: HostSideProps) {
  const milliseconds = (property: string) => (ops.figure(property) ?? 0) / 1000;
  const pieces: Piece[] = CATEGORIES.map(([id, property]) => ({
    part: part(id),
    value: milliseconds(property),
    doc: ops.doc(property),
  }));
  const total = pieces.reduce((sum, piece) => sum + piece.value, 0);
  const advice = fittingAdvice(recommendation, milliseconds);
  return (
    <>
      <Section
        title="What the host does for input"
        doc="Time of all threads of the input pipeline over the whole capture, by kind of work."
      >
        {total > 0 ? (
          <>
            <StackBar pieces={pieces} />
            <StackLegend pieces={pieces} sumLabel="All input work" />
          </>
        ) : (
          <p class="nothing">
            No op of an input pipeline was recorded on this host. tf.data shows up with host tracer level 2 or higher;
            other loaders do not show up at all.
          </p>
        )}
      </Section>
      {ops.rows.length > 0 && (
        <Section title="Input ops" doc="Every op of the input pipelines, by self time.">
          <Grid
            table={ops}
            specs={SPECS}
            name={exportName(page, "input_ops")}
            id="ops"
            sort={[{ id: "selfTimeInMs", desc: true }]}
            link={(row) => eventsOf(page.store, ops.text(row, "opName"))}
          />
        </Section>
      )}
      {total > 0 && advice.length > 0 && (
        <Section title="What can be done" doc="Only advice for work that took time here, the largest first.">
          <ul class="statements">
            {advice.map(({ text, url, ms }) => (
              <li key={text}>
                {text} <Guide url={url} />
                {ms > 0 && <span class="gain">{time(ms)} of input work</span>}
              </li>
            ))}
          </ul>
        </Section>
      )}
    </>
  );
}
