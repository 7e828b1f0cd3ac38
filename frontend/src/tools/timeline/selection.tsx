/** What lies in a box that was drawn: statistics by name, and its calls as a flame graph, top down or bottom up. */

import { useMemo } from "preact/hooks";
import { t } from "../../base/messages";
import { Table } from "../../base/table";
import { type Box, TABS, type Tab } from "../../base/timecodec";
import { lengthLabel } from "../../canvas/ticks";
import { CallTable } from "../../view/calltable";
import { FlameGraph } from "../../view/flamegraph";
import { Grid } from "../../view/grid";
import { Menu } from "../../view/menu";
import { slotted } from "../../view/slots";
import type { Scene } from "./scene";

const TITLES: Readonly<Record<Tab, string>> = {
  statistics: t("Statistics"),
  flame: t("Flame graph"),
  callers: t("Bottom-up"),
};
const FILES = [
  ["speedscope", "speedscope", ".json"],
  ["pprof", "pprof", ".pb.gz"],
  ["collapsed", t("Collapsed stacks"), ".txt"],
] as const;

interface SelectionProps {
  readonly scene: Scene;
  readonly area: Box;
  readonly find: (name: string) => void;
}

export function Selection({ scene, area, find }: SelectionProps) {
  const { tab, calls, base } = scene.state;
  return (
    <div class="tl-selection">
      <div class="tl-tabs">
        <b>{lengthLabel(area.end - area.begin)}</b>
        <div role="tablist" aria-label={t("Selection")}>
          {TABS.map((each) => (
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
        {tab.value !== "statistics" && <Weight scene={scene} />}
        {tab.value !== "statistics" && <Files scene={scene} area={area} />}
        {tab.value === "flame" && calls.value?.delta && (
          <span class="quiet">{slotted(t("red: more than {run}, blue: less"), { run: <b>{base.value?.run}</b> })}</span>
        )}
      </div>
      {tab.value === "statistics" ? <Names scene={scene} find={find} /> : <Calls scene={scene} />}
    </div>
  );
}

function Weight({ scene }: { scene: Scene }) {
  const { weight, calls } = scene.state;
  const known = calls.value?.weights ?? [];
  return (
    <select
      aria-label={t("Weigh calls by")}
      value={weight.value}
      onChange={(event) => {
        weight.value = event.currentTarget.value;
      }}
    >
      {known.map(({ id, label }) => (
        <option key={id} value={id}>
          {label}
        </option>
      ))}
    </select>
  );
}

function Files({ scene, area }: { scene: Scene; area: Box }) {
  return (
    <Menu label={t("Save")} tip={t("The calls as a file for other tools")}>
      {(close) => (
        <div class="items">
          {FILES.map(([format, title, suffix]) => (
            <a
              key={format}
              href={scene.api.callsFile(area.lanes.join(","), area.begin, area.end, scene.state.weight.value, format)}
              download
              onClick={close}
            >
              {title} <span class="quiet">({suffix})</span>
            </a>
          ))}
        </div>
      )}
    </Menu>
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

function Calls({ scene }: { scene: Scene }) {
  const { calls, find, tab } = scene.state;
  const found = calls.value;
  if (!found) return <p class="quiet">{t("Merging the calls …")}</p>;
  if (!found.parent.length)
    return <p class="quiet">{t("Nothing here has this weight: {weight}.", { weight: labelOf(found) })}</p>;
  const shared = { tree: found, label: TITLES[tab.value], find: find.value };
  if (tab.value === "flame") return <FlameGraph {...shared} dark={scene.dark} />;
  return <CallTable {...shared} weight={labelOf(found)} />;
}

const labelOf = ({ weight, weights }: { weight: string; weights: readonly { id: string; label: string }[] }) =>
  weights.find(({ id }) => id === weight)?.label ?? weight;
