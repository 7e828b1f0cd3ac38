/** Above the timeline: tools, search, what is shown, clocks, export. */

import { batch } from "@preact/signals";
import { clockChoice, type Lanes } from "../../api/timeline";
import { formatTime } from "../../base/format";
import { t } from "../../base/messages";
import { CATEGORIES } from "../../base/states";
import { MODES, type Mode } from "../../base/timelinecodec";
import type { Store } from "../../state/store";
import { Doubt } from "../../view/doubt";
import { Icon, type IconName } from "../../view/icons";
import { KeyList } from "../../view/keylist";
import { Menu } from "../../view/menu";
import { Swatch } from "../../view/stackbar";
import { Switch } from "../../view/switch";
import type { Engine } from "./engine";
import { EventSearch } from "./eventsearch";
import { TIMELINE_KEYS } from "./keys";
import type { Scene } from "./scene";
import { ShowMenu } from "./showmenu";

const MODE_BUTTONS: Readonly<Record<Mode, { name: string; icon: IconName; tip: string }>> = {
  select: {
    name: t("Tool: select, key 1"),
    icon: "select",
    tip: t("Select: drag a box for statistics and a flame graph of its events. Key: 1"),
  },
  pan: { name: t("Tool: pan, key 2"), icon: "pan", tip: t("Pan: drag to move. Key: 2") },
  zoom: { name: t("Tool: zoom, key 3"), icon: "zoom", tip: t("Zoom: drag up and down, or turn the wheel. Key: 3") },
  timing: {
    name: t("Tool: timing, key 4"),
    icon: "timing",
    tip: t("Timing: drag to measure an interval and mark it. Key: 4"),
  },
};

function ModeButtons({ scene }: { scene: Scene }) {
  const { mode } = scene.state;
  return (
    <fieldset class="tl-tools" aria-label={t("Tool")}>
      {MODES.map((id, index) => (
        <button
          key={id}
          type="button"
          aria-pressed={mode.value === id}
          aria-label={MODE_BUTTONS[id].name}
          data-tip={MODE_BUTTONS[id].tip}
          onClick={() => {
            mode.value = id;
          }}
        >
          <Icon name={MODE_BUTTONS[id].icon} />
          <small>{index + 1}</small>
        </button>
      ))}
    </fieldset>
  );
}

function ExportMenu({ scene }: { scene: Scene }) {
  return (
    <Menu label={t("Export")} tip={t("The trace as a file for ui.perfetto.dev or chrome://tracing")} align="right">
      {(close) => {
        const { begin, end } = scene.view;
        return (
          <div class="items">
            <a href={scene.api.traceFile()} download="trace.json" onClick={close}>
              {t("Whole trace")} <span class="quiet">(.json)</span>
            </a>
            <a href={scene.api.traceFile({ begin, end })} download="trace.json" onClick={close}>
              {t("Visible part")} <span class="quiet">(.json)</span>
            </a>
          </div>
        );
      }}
    </Menu>
  );
}

/** Selects what all threads did in the visible time. */
function FlameGraphButton({ scene }: { scene: Scene }) {
  const { box, tab } = scene.state;
  const select = () => {
    const sections = scene.lanes.peek().sections.filter(({ kind }) => kind === "host");
    const lanes = sections.flatMap((section) => section.lanes.filter(({ kind }) => kind !== "counter"));
    const { begin, end } = scene.view;
    batch(() => {
      box.value = { begin, end, lanes: lanes.map(({ key }) => key) };
      if (tab.peek() === "statistics") tab.value = "flame";
    });
  };
  return (
    <button
      type="button"
      class="button"
      onClick={select}
      data-tip={t("The calls of all threads in the visible time, merged")}
    >
      {t("Flame graph")}
    </button>
  );
}

function KeysMenu() {
  return (
    <Menu label={t("Keys")} align="right">
      {() => <KeyList keys={TIMELINE_KEYS} class="tl-keys" />}
    </Menu>
  );
}

/** Whether the clocks of hosts are aligned, where it is known by how much they differ. */
function AlignClocksSwitch({ store, clocks }: { store: Store; clocks: NonNullable<Lanes["clocks"]> }) {
  const [apart, error] = [formatTime(clocks.apart, "ps"), formatTime(clocks.error, "ps")];
  const tip = t("Collectives show that clocks are {apart} apart. Unaligned times are those recorded", { apart });
  const choose = (isAligned: boolean) => {
    const { clocks: _, ...others } = store.view.peek().options;
    store.go({ options: isAligned ? others : { ...others, clocks: "raw" } });
  };
  return (
    <Switch
      class="param tl-check"
      label={t("Align clocks, ± {error}", { error })}
      doc={tip}
      on={clockChoice(store.view.value.options) === ""}
      set={choose}
    />
  );
}

/** The colours of the lanes that tell why devices are idle. */
function CategoryLegend() {
  return (
    <ul class="tl-legend">
      {CATEGORIES.map(({ id, label }) => (
        <li key={id}>
          <Swatch id={id} />
          {label}
        </li>
      ))}
    </ul>
  );
}

export function TopBar({ engine, store }: { engine: Engine; store: Store }) {
  const { scene } = engine;
  const { settings } = store;
  const { clocks } = scene.lanes.value;
  const isAligned = clocks !== null && clockChoice(store.view.value.options) === "";
  return (
    <div class="tl-bar">
      <ModeButtons scene={scene} />
      <EventSearch engine={engine} />
      <ShowMenu scene={scene} settings={settings} />
      <FlameGraphButton scene={scene} />
      {!isAligned && <Doubt depends={["clocks"]} />}
      {clocks && <AlignClocksSwitch store={store} clocks={clocks} />}
      <span class="spring" />
      <ExportMenu scene={scene} />
      <KeysMenu />
      {settings.value.idle && <CategoryLegend />}
    </div>
  );
}
