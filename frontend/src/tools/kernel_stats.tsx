/** Which kernels take the GPU's time, and do they use its tensor cores? */

import { count, time } from "../base/format";
import type { Row } from "../base/table";
import { eventsOf, TIMELINE } from "../state/links";
import { Grid } from "../view/grid";
import type { ColumnSpec } from "../view/gridmodel";
import { useKept } from "../view/kept";
import { Pies } from "../view/pie";
import { Section } from "../view/section";
import { Verdict } from "../view/verdict";
import { exportName, linkTo, type PageProps } from "./page";

const SPECS: Readonly<Record<string, ColumnSpec>> = {
  share: { bar: true },
  // "No" everywhere is an answer about tensor cores, not an empty column.
  eligible: { facet: true, hidden: false },
  tensor_core: { facet: true, hidden: false },
  library: { facet: true },
  dtype: { facet: true },
  generation: { hidden: true },
  occupancy_min_percent: { hidden: true },
  occupancy_max_percent: { hidden: true },
};

/** What the address says, the table, and its name in the menu. */
const GROUPINGS: readonly (readonly [string, string, string])[] = [
  ["", "kernels", "by kernel and op"],
  ["kernel_name", "by_kernel", "by kernel"],
  ["op_name", "by_op", "by op"],
];

function Kernels({ page }: { page: PageProps }) {
  const { store, answer } = page;
  const [by, setBy] = useKept("by");
  const [, id] = GROUPINGS.find(([value]) => value === by) ?? ["", "kernels"];
  const shown = answer.table(id);
  const timeline = linkTo(store, TIMELINE);
  const launches = (row: Row) => eventsOf(store, shown.text(row, shown.has("kernel") ? "kernel" : "op"));
  return (
    <Section
      title="Kernels"
      doc={`${shown.doc} Click a row to find its launches on the timeline.`}
      note={timeline && "click a row for its launches on the timeline"}
      controls={
        <select aria-label="Grouping" value={by} onChange={(event) => setBy(event.currentTarget.value)}>
          {GROUPINGS.map(([value, , label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      }
    >
      <Grid key={id} table={shown} specs={SPECS} hideEmpty name={exportName(page, id)} id={id} link={launches} />
    </Section>
  );
}

export default function KernelPage(props: PageProps) {
  const { answer, store } = props;
  const { headline } = answer;
  const note = `${count(answer.number("launches") ?? 0)} launches, ${time(answer.number("kernel_time_us") ?? 0, "us")} in kernels.`;
  return (
    <>
      {headline && <Verdict {...headline} text={`${headline.text} ${note}`} next={linkTo(store, headline.tool)} />}
      <Pies shares={answer.table("shares")} times="total_us" />
      <Kernels page={props} />
      {["copies", "devices"]
        .map((id) => [id, answer.table(id)] as const)
        .filter(([, table]) => table.rows.length > 0)
        .map(([id, table]) => (
          <Section key={id} title={table.label} doc={table.doc}>
            <Grid table={table} hideEmpty name={exportName(props, id)} id={id} />
          </Section>
        ))}
    </>
  );
}
