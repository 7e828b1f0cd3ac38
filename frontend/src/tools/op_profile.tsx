/** Which part of the XLA programs takes the devices' time, and how much of it could be saved? */

import { t } from "../base/messages";
import { CALL_VIEWS, TableCalls } from "../view/calls";
import { useChoice, useIdleSwitch } from "../view/choices";
import { Facts } from "../view/facts";
import { Section } from "../view/section";
import { Select } from "../view/select";
import { Switch } from "../view/switch";
import type { PageProps } from "./page";
import { PageHead } from "./shared/pagehead";
import { ProfileTree } from "./xla/profiletree";

const GROUPINGS: readonly (readonly [string, string])[] = [
  ["", t("by program")],
  ["category", t("by category")],
  ["provenance", t("by name scope")],
  ["source", t("by source line")],
];

const VIEWS = [["", t("as a tree")], ...CALL_VIEWS] as const;

/** What the parts of the tree's bars are. */
function TreeLegend() {
  return (
    <span class="optree-legend">
      <span>
        <i /> {t("at best")}
      </span>{" "}
      <span>
        <i class="wasted" /> {t("wasted")}
      </span>{" "}
      <span>
        <i class="unknown" /> {t("not known")}
      </span>
    </span>
  );
}

export default function OpProfilePage(props: PageProps) {
  const { answer, store } = props;
  const nodes = answer.table("nodes");
  const hasIdle = nodes.rows.some((row) => nodes.text(row, "kind") === "idle");
  const [withIdle, setWithIdle] = useIdleSwitch();
  const [view, setView] = useChoice("view");
  const [grouping, setGrouping] = useChoice("group_by");
  return (
    <>
      <PageHead page={props} />
      <Facts answer={answer} />
      <Section
        title={nodes.label}
        doc={nodes.doc}
        note={view ? hasIdle && t("without idle time") : <TreeLegend />}
        controls={
          <>
            <Select label={t("Grouping")} value={grouping} options={GROUPINGS} choose={setGrouping} />
            <Select label={nodes.label} value={view} options={VIEWS} choose={setView} />
            {!view && hasIdle && (
              <Switch
                label={t("Include idle time")}
                doc={t("Counts the time in which devices are idle.")}
                on={withIdle}
                set={setWithIdle}
              />
            )}
          </>
        }
      >
        {view ? (
          <TableCalls answer={answer} table="nodes" view={view} store={store} />
        ) : (
          <ProfileTree nodes={nodes} idle={withIdle} store={store} />
        )}
      </Section>
    </>
  );
}
