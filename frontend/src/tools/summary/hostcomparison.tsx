/** Which of several hosts holds the others up, and how often. */

import { joinSentences, t } from "../../base/messages";
import type { Row } from "../../base/table";
import { linkTo } from "../../state/links";
import type { ColumnSpecs } from "../../view/gridmodel";
import { ViewLink } from "../../view/viewlink";
import type { PageProps } from "../page";
import { TableSection } from "../shared/tablesection";

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
    <TableSection
      page={page}
      id="hosts"
      doc={joinSentences(hosts.doc, t("Click a host to see its steps alone."))}
      note={answer.text("hosts_compared")}
      controls={pod && <ViewLink {...pod} label={t("Step by step")} />}
      specs={SPECS}
      hideEmpty={false}
      sort={SORT}
      link={linkToHost}
    />
  );
}
