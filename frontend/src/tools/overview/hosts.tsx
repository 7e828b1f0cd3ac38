/** Which of several hosts holds the others up, and how often. */

import type { Row, Table } from "../../base/datatable";
import { count, plural } from "../../base/format";
import { summarize } from "../../base/statistics";
import type { Store } from "../../state/store";
import { Grid } from "../../view/grid";
import type { ColumnSpec } from "../../view/gridmodel";
import { Section } from "../../view/section";
import { GoLink } from "../../view/verdict";
import { linkTo } from "../page";

const SPECS: Readonly<Record<string, ColumnSpec>> = { slowest: { bar: true } };
const SORT = [{ id: "slowest", desc: true }];

/** Says who was the slowest most often; with few shared steps, or where all are alike, that there is nothing to say. */
export function headline(hosts: Table): string {
  const shared = hosts.figure("shared_steps") ?? 0;
  if (shared === 0) return "no step is complete on all hosts, so they cannot be compared";
  const most = summarize(hosts.rows.map((row) => hosts.number(row, "slowest"))).high;
  const first = hosts.rows.filter((row) => hosts.number(row, "slowest") === most);
  if (most === 0) return `equally fast in ${shared === 1 ? "the shared step" : `all ${plural(shared, "shared step")}`}`;
  const names = first.map((row) => hosts.text(row, "host")).join(" and ");
  if (first.length > 2) return `${first.length} hosts were the slowest equally often`;
  return `${names} ${first.length > 1 ? "were each" : "was"} the slowest in ${count(most)} of ${plural(shared, "step")}`;
}

export function Hosts({ hosts, store, name }: { hosts: Table; store: Store; name: string }) {
  if (hosts.rows.length < 2) return null;
  const pod = linkTo(store, "pod_viewer");
  const choose = (row: Row) => {
    const host = hosts.text(row, "host");
    return { href: store.href({ host }), go: () => store.go({ host }) };
  };
  return (
    <Section
      title="Hosts"
      doc="A step lasts as long as on its slowest host. Click a host to see its steps alone."
      note={headline(hosts)}
      controls={pod && <GoLink {...pod} label="Step by step" />}
    >
      <Grid table={hosts} specs={SPECS} name={name} id="hosts" sort={SORT} link={choose} />
    </Section>
  );
}
