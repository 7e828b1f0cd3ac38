/** What lies in a box that was drawn: statistics by name, and its calls as a flame graph, top down or bottom up. */

import { useMemo } from "preact/hooks";
import { t } from "../../base/messages";
import { Table } from "../../base/table";
import { BOX_TABS, type Box, type BoxTab } from "../../base/timecodec";
import { lengthLabel } from "../../canvas/ticks";
import { CallControls, CallView } from "../../view/calls";
import { Grid } from "../../view/grid";
import type { Scene } from "./scene";

const TITLES: Readonly<Record<BoxTab, string>> = {
  statistics: t("Statistics"),
  flame: t("Flame graph"),
  callers: t("Bottom-up"),
};

interface SelectionProps {
  readonly scene: Scene;
  readonly area: Box;
  readonly find: (name: string) => void;
}

export function Selection({ scene, area, find }: SelectionProps) {
  const { tab, calls, base, weight } = scene.state;
  const file = (by: string, format: string) =>
    scene.api.callsFile(area.lanes.join(","), area.begin, area.end, by, format);
  return (
    <div class="tl-selection">
      <div class="tl-tabs">
        <b>{lengthLabel(area.end - area.begin)}</b>
        <div role="tablist" aria-label={t("Selection")}>
          {BOX_TABS.map((each) => (
            <button
              key={each}
              type="button"
              role="tab"
              aria-selected={tab.value === each}
              onClick={() => {
                tab.value = each;
              }}
            >
              {TITLES[each]}
            </button>
          ))}
        </div>
        {tab.value !== "statistics" && (
          <CallControls
            calls={calls.value}
            weight={weight.value}
            setWeight={(id) => {
              weight.value = id;
            }}
            fileAddress={file}
            base={tab.value === "flame" ? (base.value?.run ?? "") : ""}
          />
        )}
      </div>
      {tab.value === "statistics" ? (
        <Names scene={scene} find={find} />
      ) : (
        <CallView
          calls={calls.value}
          inverted={tab.value === "callers"}
          label={TITLES[tab.value]}
          find={scene.state.find.value}
          dark={scene.dark}
        />
      )}
    </div>
  );
}

function Names({ scene, find }: Omit<SelectionProps, "area">) {
  const found = scene.state.statistics.value;
  const table = useMemo(() => found && Table.of(found.table), [found]);
  if (!found || !table) return null;
  return (
    <>
      <p>
        {[
          t("{events} events selected, {names} names by lane", { events: found.events, names: found.names }),
          ...(found.names > table.rows.length
            ? [t("the {count} with the most time are listed", { count: table.rows.length })]
            : []),
        ].join(" · ")}
      </p>
      <Grid table={table} name="selection" onRow={(row) => find(table.text(row, "name"))} />
    </>
  );
}
