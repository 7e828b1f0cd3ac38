/** What lies in a box that was drawn: statistics by name, and its calls as a flame graph, top down or bottom up. */

import { useMemo } from "preact/hooks";
import { t } from "../../base/messages";
import { Table } from "../../base/table";
import { BOX_TABS, type Box, type BoxTab } from "../../base/timelinecodec";
import { lengthLabel } from "../../canvas/timeaxis";
import { CallControls, CallView } from "../../view/calls";
import { Grid } from "../../view/grid";
import { findName } from "./navigation";
import type { Scene } from "./scene";

const TAB_TITLES: Readonly<Record<BoxTab, string>> = {
  statistics: t("Statistics"),
  flame: t("Flame graph"),
  callers: t("Bottom-up"),
};

interface BoxDetailsProps {
  readonly scene: Scene;
  readonly box: Box;
}

export function BoxDetails({ scene, box }: BoxDetailsProps) {
  const { tab, calls, base, weight } = scene.state;
  const file = (by: string, format: string) => scene.api.callsFile(box, by, format);
  return (
    <div class="tl-selection">
      <div class="tl-tabs">
        <b>{lengthLabel(box.end - box.begin)}</b>
        <div role="tablist" aria-label={t("Selection")}>
          {BOX_TABS.map((id) => (
            <button
              key={id}
              type="button"
              role="tab"
              aria-selected={tab.value === id}
              onClick={() => {
                tab.value = id;
              }}
            >
              {TAB_TITLES[id]}
            </button>
          ))}
        </div>
        {tab.value !== "statistics" && (
          <CallControls
            calls={calls.value}
            weight={weight.value}
            setWeight={(weightId) => {
              weight.value = weightId;
            }}
            fileAddress={file}
            base={tab.value === "flame" ? (base.value?.run ?? "") : ""}
          />
        )}
      </div>
      {tab.value === "statistics" ? (
        <NameStatistics scene={scene} />
      ) : (
        <CallView
          calls={calls.value}
          inverted={tab.value === "callers"}
          label={TAB_TITLES[tab.value]}
          find={scene.state.find.value}
          dark={scene.dark}
        />
      )}
    </div>
  );
}

function NameStatistics({ scene }: { scene: Scene }) {
  const statistics = scene.state.statistics.value;
  const table = useMemo(() => statistics && Table.fromAnswer(statistics.table), [statistics]);
  if (!statistics || !table) return null;
  return (
    <>
      <p>
        {[
          t("{events} events selected, {names} names by lane", { events: statistics.events, names: statistics.names }),
          ...(statistics.names > table.rows.length
            ? [t("the {count} with the most time are listed", { count: table.rows.length })]
            : []),
        ].join(" · ")}
      </p>
      <Grid table={table} name="selection" onRow={(row) => findName(scene, table.text(row, "name"))} />
    </>
  );
}
