/** The column of names at the left: sections and lanes, to fold and to pin. */

import { useComputed } from "@preact/signals";
import { t } from "../../base/messages";
import { Icon } from "../../view/icons";
import { Menu } from "../../view/menu";
import { type Band, laneId, sectionId, visibleRange } from "./layout";
import { HEAD_PX, type Scene } from "./scene";
import { withToggled } from "./state";

const KIND_TIPS: Readonly<Record<string, string>> = {
  steps: t("Steps of the program"),
  modules: t("XLA programs"),
  ops: t("Ops of the framework or XLA"),
  scope: t("Name scopes or source lines of ops"),
  stream: t("Work on a stream of the device"),
  thread: t("Events of a host thread"),
  frames: t("Python calls, nested in their callers"),
  counter: t("A value over time"),
};

function labelTip({ lane, section, title }: Band): string {
  if (!lane)
    return t("{name}: {count, plural, one {# lane} other {# lanes}}", {
      name: section.name,
      count: section.lanes.length,
    });
  const number = lane.detail ? ` (${lane.detail})` : "";
  return [
    `${title}${number}`,
    KIND_TIPS[lane.kind] ?? "",
    t("{count, plural, one {# event} other {# events}}", { count: lane.events }),
  ]
    .join("\n")
    .replace(/\n+/g, "\n");
}

function BandLabel({ scene, band, top }: { scene: Scene; band: Band; top: number }) {
  const { state } = scene;
  const { folds, pins } = state;
  const fold = () => {
    folds.value = withToggled(folds.peek(), band.id);
  };
  const pin = () => {
    const now = pins.peek();
    pins.value = band.pinned ? now.filter((id) => id !== band.id) : [...now.filter((id) => id !== band.id), band.id];
  };
  const hide = () => {
    state.hidden.value = withToggled(state.hidden.peek(), band.id);
  };
  const foldable = !band.lane || band.lane.rows > 1 || band.lane.kind === "counter";
  return (
    <div
      class={`tl-label ${band.kind}${band.lane ? ` ${band.lane.kind}` : ""}`}
      style={{ top: `${top}px`, height: `${band.height}px` }}
      data-tip={labelTip(band)}
    >
      <button type="button" class="tl-fold" onClick={fold} disabled={!foldable} aria-expanded={!band.folded}>
        {foldable && <Icon name={band.folded ? "right" : "down"} />}
        <span class="cut tl-name">{band.title}</span>
        {band.lane?.detail && <span class="cut quiet">{band.lane.detail}</span>}
      </button>
      {!band.pinned && (
        <button
          type="button"
          class="tl-pin"
          onClick={hide}
          aria-label={t("Hide: {lane}", { lane: band.title })}
          data-tip={t("Hide it")}
        >
          ×
        </button>
      )}
      {band.lane && (
        <button
          type="button"
          class={band.pinned ? "tl-pin pinned" : "tl-pin"}
          onClick={pin}
          aria-pressed={band.pinned}
          aria-label={
            band.pinned ? t("Unpin: {lane}", { lane: band.title }) : t("Pin to the top: {lane}", { lane: band.title })
          }
        >
          <Icon name="pin" />
        </button>
      )}
    </div>
  );
}

/** Lanes are drawn in groups, so that scrolling within one moves the group and makes no new elements. */
const GROUP_PX = 400;

export function LaneLabels({ scene }: { scene: Scene }) {
  const { state } = scene;
  const group = useComputed(() => Math.floor(state.scrollPx.value / GROUP_PX));
  const layout = scene.layout.value;
  const from = group.value * GROUP_PX - 100;
  const [first, last] = visibleRange(layout.bands, from, from + GROUP_PX + scene.size.height + 200);
  return (
    <div class="tl-labels">
      <div class="tl-corner" style={{ height: `${HEAD_PX}px` }}>
        <HiddenLanesMenu scene={scene} />
        <input
          type="search"
          placeholder={t("Filter lanes")}
          aria-label={t("Filter lanes")}
          data-tip={t(
            "Shows only lanes whose device, process or thread name contains all words; =name is a whole name",
          )}
          value={state.laneFilter.value}
          onInput={(event) => {
            state.laneFilter.value = event.currentTarget.value.trim();
          }}
        />
      </div>
      <div class="tl-pinned" style={{ height: `${layout.pinnedHeight}px` }}>
        {layout.pinned.map((band) => (
          <BandLabel key={`pin ${band.id}`} scene={scene} band={band} top={band.top} />
        ))}
      </div>
      <div class="tl-scrolled">
        <ScrolledGroup scene={scene}>
          {layout.bands.slice(first, last).map((band) => (
            <BandLabel key={band.id} scene={scene} band={band} top={band.top} />
          ))}
        </ScrolledGroup>
      </div>
    </div>
  );
}

/** Lanes that were hidden, to show them again. */
function HiddenLanesMenu({ scene }: { scene: Scene }) {
  const { hidden } = scene.state;
  if (!hidden.value.size) return null;
  const names = new Map<string, string>();
  for (const section of scene.lanes.value.sections) {
    names.set(sectionId(section), section.name);
    for (const lane of section.lanes) names.set(laneId(section, lane), `${lane.name} ${lane.detail}`);
  }
  return (
    <Menu label={t("Hidden ({count})", { count: hidden.value.size })} tip={t("Show lanes again")}>
      {() => (
        <div class="items">
          {[...hidden.value].map((id) => (
            <button
              key={id}
              type="button"
              onClick={() => {
                hidden.value = withToggled(hidden.peek(), id);
              }}
            >
              {names.get(id) ?? id}
            </button>
          ))}
          <button
            type="button"
            onClick={() => {
              hidden.value = new Set();
            }}
          >
            {t("Show all")}
          </button>
        </div>
      )}
    </Menu>
  );
}

function ScrolledGroup({ scene, children }: { scene: Scene; children: preact.ComponentChildren }) {
  return <div style={{ transform: `translateY(${-scene.state.scrollPx.value}px)` }}>{children}</div>;
}
