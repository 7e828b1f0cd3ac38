/** Which of several hosts holds the others up, and how often. */

import { joinSentences, t } from "../../base/messages";
import type { Row } from "../../base/table";
import { linkTo } from "../../state/links";
import { Grid } from "../../view/grid";
import type { ColumnSpecs } from "../../view/gridmodel";
import { Section } from "../../view/section";
import { ViewLink } from "../../view/viewlink";
import { exportName, type PageProps } from "../page";

const SPECS: ColumnSpecs = { slowest: { bar: true } };
const SORT = [{ id: "slowest", desc: true }];

export function HostComparison({ page }: { page: PageProps }) {
  const { answer, store } = page;
  const hosts = answer.table("hosts");
  if (hosts.rows.length < 2) return null;
  const pod = linkTo(store, "pod_viewer");
  const linkToHost = (row: Row) => {
    const host = hosts.text(row, "host");
    return { label: host, href: store.href({ host }), go: () => store.go({ host }) };
  };
  return (
    <Section
      title={hosts.label}
      doc={joinSentences(hosts.doc, t("Click a host to see its steps alone."))}
      note={answer.text("hosts_compared")}
      controls={pod && <ViewLink {...pod} label={t("Step by step")} />}
    >
      <Grid table={hosts} specs={SPECS} name={exportName(page, "hosts")} id="hosts" sort={SORT} link={linkToHost} />
    </Section>
  );
}
