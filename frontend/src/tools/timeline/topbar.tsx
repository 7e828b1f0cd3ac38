/** Above the timeline: tools, search, filters, arrows, export. */

import { batch, type Signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { clockChoice, type Lanes } from "../../api/timeline";
import { count, time } from "../../base/format";
import { t } from "../../base/messages";
import { CATEGORIES } from "../../base/states";
import { COLOURINGS, type Colouring, MODES, type Mode } from "../../base/timelinecodec";
import type { Settings } from "../../state/settings";
import type { Store } from "../../state/store";
import { Doubt } from "../../view/doubt";
import { Icon, type IconName } from "../../view/icons";
import { KeyList } from "../../view/keylist";
import { Menu } from "../../view/menu";
import { Swatch } from "../../view/stackbar";
import { TIMELINE_KEYS } from "./keys";
import type { Scene } from "./scene";
import { withToggled } from "./state";

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

export interface SearchActions {
  readonly walkHits: (step: 1 | -1) => void;
  readonly clearSearch: () => void;
}

function ModeButtons({ scene }: { scene: Scene }) {
  const { mode } = scene.state;
  return (
    <fieldset class="tl-tools" aria-label={t("Tool")}>
      {MODES.map((each, place) => (
        <button
          key={each}
          type="button"
          aria-pressed={mode.value === each}
          aria-label={MODE_BUTTONS[each].name}
          data-tip={MODE_BUTTONS[each].tip}
          onClick={() => {
            mode.value = each;
          }}
        >
          <Icon name={MODE_BUTTONS[each].icon} />
          <small>{place + 1}</small>
        </button>
      ))}
    </fieldset>
  );
}

function EventSearch({ scene, actions }: { scene: Scene; actions: SearchActions }) {
  const { find, regex, longest, listed, hits, hit } = scene.state;
  const onKey = (event: KeyboardEvent) => {
    if (event.key === "Enter") actions.walkHits(event.shiftKey ? -1 : 1);
    else if (event.key === "Escape") {
      actions.clearSearch();
      (event.currentTarget as HTMLElement).blur();
    } else return;
    event.preventDefault();
  };
  const found = hits.value;
  const matches =
    found &&
    (hit.value < 0 ? count(found.total) : t("{place} of {total}", { place: hit.value + 1, total: found.total }));
  return (
    <div class="tl-search">
      <input
        type="search"
        data-filter
        placeholder={t("Search names and stats")}
        aria-label={t("Search events by their names and stats")}
        value={find.value}
        onInput={(event) => {
          find.value = event.currentTarget.value;
        }}
        onKeyDown={onKey}
      />
      <button
        type="button"
        class="button"
        aria-pressed={regex.value}
        aria-label={t("Regular expression")}
        data-tip={t("Use a regular expression")}
        onClick={() => {
          regex.value = !regex.value;
        }}
      >
        .*
      </button>
      {/* Names on derived lanes stand out, and are no events to walk. */}
      {found && (found.total > 0 || !found.names.size) && (
        <>
          <output class="number">{found.total ? matches : t("none")}</output>
          <button
            type="button"
            class="button"
            aria-pressed={longest.value}
            data-tip={t("Sort matches by length, device events first; else by time")}
            onClick={() => {
              longest.value = !longest.value;
            }}
          >
            {t("longest first")}
          </button>
          <button
            type="button"
            class="button"
            aria-pressed={listed.value}
            data-tip={t("List all matches beside the lanes")}
            onClick={() => {
              listed.value = !listed.value;
            }}
          >
            {t("list")}
          </button>
          <button type="button" class="button" aria-label={t("Previous match")} onClick={() => actions.walkHits(-1)}>
            ‹
          </button>
          <button type="button" class="button" aria-label={t("Next match")} onClick={() => actions.walkHits(1)}>
            ›
          </button>
        </>
      )}
    </div>
  );
}

function LeastDuration({ scene }: { scene: Scene }) {
  const { leastPs } = scene.state;
  return (
    <label class="param" data-tip={t("Dims shorter slices")}>
      <span>{t("Shortest duration, µs")}</span>
      <input
        type="number"
        min={0}
        step="any"
        value={leastPs.value ? leastPs.value / 1e6 : ""}
        onChange={(event) => {
          leastPs.value = Math.max(0, Number(event.currentTarget.value) * 1e6 || 0);
        }}
      />
    </label>
  );
}

const COLOURING_NAMES: Readonly<Record<Colouring, string>> = {
  kind: t("by kind of work"),
  name: t("by name"),
  library: t("by library, file or module"),
};

function ColouringChoice({ scene }: { scene: Scene }) {
  const { colouring } = scene.state;
  return (
    <label class="param">
      <span>{t("Colours")}</span>
      <select
        value={colouring.value}
        onChange={(event) => {
          colouring.value = event.currentTarget.value as Colouring;
        }}
      >
        {COLOURINGS.map((each) => (
          <option key={each} value={each}>
            {COLOURING_NAMES[each]}
          </option>
        ))}
      </select>
    </label>
  );
}

/** The kinds that the capture has; those that a link chose stay, so that they can be taken off. */
function ArrowKindChoice({ scene }: { scene: Scene }) {
  const { arrowKinds } = scene.state;
  const [captureKinds, setCaptureKinds] = useState<readonly string[]>([]);
  useEffect(() => {
    const unmounted = new AbortController();
    scene.api.arrows({ lanes: [], ...scene.capture }, unmounted.signal).then(
      ({ kinds }) => setCaptureKinds(kinds),
      () => {
        // What was chosen can be taken off without them.
      },
    );
    return () => unmounted.abort();
  }, [scene]);
  const kinds = [...new Set([...captureKinds, ...arrowKinds.value])];
  return (
    <fieldset class="param">
      <span>{t("Arrows between all events in view")}</span>
      {kinds.length === 0 && <span class="quiet">{t("none in this capture")}</span>}
      {kinds.map((kind) => (
        <label key={kind} class="tl-check">
          <input
            type="checkbox"
            checked={arrowKinds.value.includes(kind)}
            onChange={() => {
              arrowKinds.value = [...withToggled(new Set(arrowKinds.peek()), kind)];
            }}
          />{" "}
          {kind}
        </label>
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
  const { area, tab } = scene.state;
  const select = () => {
    const sections = scene.lanes.peek().sections.filter(({ kind }) => kind === "host");
    const lanes = sections.flatMap((section) => section.lanes.filter(({ kind }) => kind !== "counter"));
    const { begin, end } = scene.view;
    batch(() => {
      area.value = { begin, end, lanes: lanes.map(({ key }) => key) };
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

function IdleLanesSwitch({ settings }: { settings: Signal<Settings> }) {
  const tip = t("Causes of idleness, busy share and launch queue of each device, memory, critical path. Remembered");
  return (
    <label class="param tl-check" data-tip={tip}>
      <input
        type="checkbox"
        checked={settings.value.idle}
        onChange={(event) => {
          settings.value = { ...settings.peek(), idle: event.currentTarget.checked };
        }}
      />{" "}
      {t("Why devices are idle")}
    </label>
  );
}

/** Whether the clocks of hosts are aligned, where it is known by how much they differ. */
function AlignClocksSwitch({ store, clocks }: { store: Store; clocks: NonNullable<Lanes["clocks"]> }) {
  const [apart, error] = [time(clocks.apart, "ps"), time(clocks.error, "ps")];
  const tip = t("Collectives show that clocks are {apart} apart. Unaligned times are those recorded", { apart });
  const choose = (isAligned: boolean) => {
    const { clocks: _, ...others } = store.view.peek().options;
    store.go({ options: isAligned ? others : { ...others, clocks: "raw" } });
  };
  return (
    <label class="param tl-check" data-tip={tip}>
      <input
        type="checkbox"
        checked={clockChoice(store.view.value.options) === ""}
        onChange={(event) => choose(event.currentTarget.checked)}
      />{" "}
      {t("Align clocks, ± {error}", { error })}
    </label>
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

interface TopBarProps {
  readonly scene: Scene;
  readonly store: Store;
  readonly actions: SearchActions;
}

export function TopBar({ scene, store, actions }: TopBarProps) {
  const { settings } = store;
  const { clocks } = scene.lanes.value;
  const isAligned = clocks !== null && clockChoice(store.view.value.options) === "";
  const { leastPs, arrowKinds, colouring } = scene.state;
  const changedCount = [leastPs.value > 0, arrowKinds.value.length > 0, colouring.value !== "kind"].filter(
    Boolean,
  ).length;
  return (
    <div class="tl-bar">
      <ModeButtons scene={scene} />
      <EventSearch scene={scene} actions={actions} />
      <Menu
        label={changedCount ? t("Show ({set})", { set: changedCount }) : t("Show")}
        tip={t("Filter by duration; arrows; idle devices")}
      >
        {() => (
          <>
            <IdleLanesSwitch settings={settings} />
            <ColouringChoice scene={scene} />
            <LeastDuration scene={scene} />
            <ArrowKindChoice scene={scene} />
          </>
        )}
      </Menu>
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
